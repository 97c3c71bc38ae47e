//! A marina: its kinds are generated from an OpenAPI document. What a schema cannot say is a hook in Rust.

use kindsmith::{Context, FieldError, FieldErrorKind, FieldPath, Hooks, handlers::Result, server::Builder};

include!(concat!(env!("OUT_DIR"), "/kinds.rs"));

use marina::v1::{Berth, Booking};

/// The harbor master, who refuses bookings of boats that do not fit into the berth.
pub struct HarborMaster {
    /// The space around each boat, in centimeters.
    pub clearance: i32,
}

impl Hooks<Booking> for HarborMaster {
    async fn validate(&self, booking: &Booking, context: &Context<'_, Booking>) -> Result<Vec<FieldError>> {
        let (spec, path) = (&booking.spec, FieldPath::new("spec"));
        let mut errors = Vec::new();
        if spec.departure <= spec.arrival {
            let departure = FieldErrorKind::Invalid(spec.departure.to_string().into());
            errors.push(FieldError::new(&path.child("departure"), departure, "it must be after the arrival"));
        }
        let Some(berth) = context.client().of::<Berth>("").get_opt(&spec.berth).await? else {
            let missing = FieldErrorKind::NotFound(spec.berth.clone().into());
            errors.push(FieldError::new(&path.child("berth"), missing, ""));
            return Ok(errors);
        };
        let (boat, room) = (&spec.boat.size, &berth.spec.size);
        let size = path.child("boat").child("size");
        for (name, boat, room) in [("length", boat.length, room.length), ("beam", boat.beam, room.beam)] {
            if boat > room - self.clearance {
                let detail = format!("the berth {} has room for {} cm", spec.berth, room - self.clearance);
                errors.push(FieldError::new(&size.child(name), FieldErrorKind::Invalid(boat.into()), detail));
            }
        }
        Ok(errors)
    }
}

/// Adds the marina to a server.
pub fn serve(server: Builder) -> Builder {
    server.kind::<Berth>().kind_with::<Booking>(HarborMaster { clearance: 20 })
}

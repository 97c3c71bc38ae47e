//! The owners of an object's fields.
use super::{
    Writer,
    owner::{Identity, Operation, Owner},
    set::Set,
    types::Type,
};
use crate::schema::Document;

/// The name under which the oldest changes are kept together.
const ANCIENT: &str = "ancient-changes";
/// How many owners by update are kept apart.
const MOST_UPDATERS: usize = 10;

/// All owners of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Owners<'a> {
    list: Vec<Owner<'a>>,
}

impl<'a> Owners<'a> {
    /// Reads the owners of an object that the server has stored.
    ///
    /// # Errors
    /// An entry that is none; sets are read when they are needed.
    pub(super) fn of(object: &'a Document) -> Result<Self, String> {
        let entries = object.get("metadata").and_then(|metadata| metadata.get("managedFields"));
        Self::read(entries.and_then(Document::as_array).map_or(&[][..], Vec::as_slice))
    }

    /// Reads entries. Of two entries of one owner the last counts.
    ///
    /// # Errors
    /// An entry that is none.
    pub(super) fn read(entries: &'a [Document]) -> Result<Self, String> {
        let mut owners = Self { list: Vec::with_capacity(entries.len() + 1) };
        for entry in entries {
            owners.put(Owner::read(entry)?);
        }
        Ok(owners)
    }

    /// Reads entries that a client has sent: their sets are read at once, and written anew.
    ///
    /// # Errors
    /// An entry that is none, or whose fields are not a set.
    pub(super) fn read_foreign(ty: Type<'_>, entries: &'a [Document]) -> Result<Self, String> {
        let mut owners = Self::read(entries)?;
        for owner in &mut owners.list {
            owner.set(ty)?;
            owner.rewrite();
        }
        Ok(owners)
    }

    /// Reads entries with their sets, as they are stored.
    ///
    /// # Errors
    /// An entry that is none, or whose fields are not a set.
    pub(super) fn read_plain(entries: &'a [Document]) -> Result<Self, String> {
        let mut owners = Self::read(entries)?;
        owners.list.iter_mut().try_for_each(|owner| owner.plain_set().map(|_| ()))?;
        Ok(owners)
    }

    /// There are none.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Each owner.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Owner<'a>> {
        self.list.iter_mut()
    }

    /// An owner.
    pub(super) fn get_mut(&mut self, who: &Identity<'_>) -> Option<&mut Owner<'a>> {
        self.list.iter_mut().find(|owner| owner.who == *who)
    }

    /// The owner of what a manager applied.
    pub(super) fn applier(&mut self, manager: &str, subresource: &str) -> Option<&mut Owner<'a>> {
        self.get_mut(&Identity::new(manager, Operation::Apply, "", subresource))
    }

    /// Keeps some owners.
    pub(super) fn retain(&mut self, keep: impl FnMut(&mut Owner<'a>) -> bool) {
        self.list.retain_mut(keep);
    }

    /// Takes an owner out.
    pub(super) fn take(&mut self, who: &Identity<'_>) -> Option<Owner<'a>> {
        let index = self.list.iter().position(|owner| owner.who == *who)?;
        Some(self.list.remove(index))
    }

    /// Adds owners that are not among these.
    pub(super) fn append(&mut self, mut others: Owners<'a>) {
        self.list.append(&mut others.list);
    }

    /// Adds an owner, or puts it in the place of the one that it is.
    fn put(&mut self, owner: Owner<'a>) {
        match self.get_mut(&owner.who) {
            Some(place) => *place = owner,
            None => self.list.push(owner),
        }
    }

    /// Sets what a writer owns. One that owns nothing is no owner.
    pub(super) fn set(&mut self, writer: &Writer<'a>, operation: Operation, set: Set<'a>, moved: bool) {
        let who = Identity::of(writer, operation);
        let before = self.get_mut(&who).and_then(|owner| owner.time.take());
        let time = if moved { Some(writer.time.to_owned()) } else { before };
        if set.is_empty() {
            self.list.retain(|owner| owner.who != who);
        } else {
            self.put(Owner::new(who, writer.api_version, time, set));
        }
    }

    /// Drops owners of nothing, of those whose sets were read.
    pub(super) fn drop_empty(&mut self) {
        self.list.retain(|owner| !owner.is_empty());
    }

    /// Keeps the number of owners by update within bounds: the oldest are joined, those of one version into one.
    ///
    /// # Errors
    /// Fields that are not a set.
    pub(super) fn cap_updaters(&mut self, ty: Type<'_>) -> Result<(), String> {
        let mut updaters: Vec<Owner<'a>> =
            self.list.extract_if(.., |owner| owner.who.operation == Operation::Update).collect();
        if updaters.len() > MOST_UPDATERS {
            updaters.sort_by_cached_key(|owner| (owner.time.clone(), owner.who.sort_key()));
            updaters = joined(ty, updaters)?;
        }
        self.list.append(&mut updaters);
        Ok(())
    }

    /// The entries, in the reference's order; `None` if there are none.
    pub(super) fn write(mut self) -> Option<Document> {
        self.list.sort_by(|a, b| {
            let key =
                |owner: &Owner<'a>| (owner.who.operation, owner.who.manager, owner.api_version, owner.who.subresource);
            let by_time = a.who.operation.cmp(&b.who.operation).then_with(|| a.time.cmp(&b.time));
            by_time.then_with(|| key(a).cmp(&key(b)))
        });
        let entries: Vec<Document> = self.list.iter().map(Owner::write).collect();
        (!entries.is_empty()).then(|| entries.into())
    }
}

/// Owners by update, the oldest first, of which the first ones are joined until few enough are left.
fn joined<'a>(ty: Type<'_>, updaters: Vec<Owner<'a>>) -> Result<Vec<Owner<'a>>, String> {
    let mut left = updaters.len();
    let mut kept: Vec<Owner<'a>> = Vec::with_capacity(left);
    // Where the first owner of a version is: it becomes the joined one when a second comes.
    let mut buckets: Vec<(&str, usize)> = Vec::new();
    for mut owner in updaters {
        let bucket = buckets.iter().find(|(version, _)| *version == owner.api_version).map(|(_, index)| *index);
        match bucket {
            Some(index) if left > MOST_UPDATERS => {
                let set = std::mem::take(owner.set(ty)?);
                let into = &mut kept[index];
                into.who = Identity::new(ANCIENT, Operation::Update, into.api_version, "");
                into.set(ty)?;
                into.gain(set);
                into.time = owner.time;
                left -= 1;
            }
            _ => {
                if bucket.is_none() {
                    buckets.push((owner.api_version, kept.len()));
                }
                kept.push(owner);
            }
        }
    }
    Ok(kept)
}

//! Invoices.

use kindsmith::{ApiType, Condition, ObjectMeta, Resource, Time};
use serde::{Deserialize, Serialize};

pub mod v1beta1;

/// An invoice.
#[derive(Resource, Clone, Debug)]
#[resource(group = "billing.example.com", version = "v1", status)]
#[resource(column("Order", path = spec.order))]
#[resource(column("Due", path = spec.due))]
pub struct Invoice {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    /// The desired state of the invoice.
    pub spec: InvoiceSpec,
    /// The observed state of the invoice.
    pub status: Option<InvoiceStatus>,
}

/// The desired state of an invoice.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvoiceSpec {
    /// The order.
    pub order: String,
    /// The due.
    pub due: Time,
    /// The recipient.
    pub recipient: InvoiceRecipient,
    /// The lines.
    #[api(list = map(key = name))]
    #[serde(default)]
    pub lines: Vec<InvoiceLine>,
}

/// The recipient of an invoice.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvoiceRecipient {
    /// The name.
    pub name: String,
    /// The city.
    pub city: String,
}

/// The line of an invoice.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvoiceLine {
    /// The name.
    pub name: String,
    /// The amount.
    pub amount: i32,
    /// The note.
    pub note: Option<String>,
}

/// The observed state of an invoice.
#[derive(ApiType, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvoiceStatus {
    /// The latest observations.
    #[api(list = map(key = kind), merge)]
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

#[cfg(test)]
mod tests {
    use kindsmith::Server;
    use serde_json::{Value, json};

    const INVOICES: &str = "/apis/billing.example.com/v1/namespaces/default/invoices";

    pub(super) fn example() -> Value {
        json!({
            "metadata": {"name": "example"},
            "spec": {
                "order": "breakfast",
                "due": "2030-01-31T00:00:00Z",
                "recipient": {"city": "Nantucket", "name": "Ishmael"},
                "lines": [{"amount": 3, "name": "rye"}, {"amount": 2, "name": "delivery", "note": "on foot"}],
            },
        })
    }

    #[tokio::test]
    async fn an_invoice_is_stored_as_it_was_sent() {
        let server = Server::test().configure(crate::serve).start().await;
        let (status, stored) = server.call("POST", INVOICES, example()).await;
        assert_eq!(status, 201, "{stored}");
        assert_eq!(stored["spec"], example()["spec"]);
    }

    #[tokio::test]
    async fn an_invoice_without_its_order_is_refused() {
        let server = Server::test().configure(crate::serve).start().await;
        let mut object = example();
        object["spec"] = json!({});
        let (status, refusal) = server.call("POST", INVOICES, object).await;
        assert_eq!(status, 422, "{refusal}");
        let causes = refusal["details"]["causes"].as_array().expect("causes");
        let is_named = causes.iter().any(|cause| cause["field"] == "spec.order");
        assert!(is_named, "{refusal}");
    }
}

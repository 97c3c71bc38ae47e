//! A list of all objects in pages, each continued from the one before.
use super::objects::{READ, config_maps};
use crate::client::{Connection, Failed, Request};

/// Reads all pages; returns their size in bytes.
pub(super) async fn walk(connection: &mut Connection) -> Result<u64, Failed> {
    let first = config_maps(READ) + "?limit=500";
    let (mut path, mut bytes) = (first.clone(), 0);
    loop {
        let answer = connection.send(&Request::get(path)).await?;
        bytes += answer.length;
        match metadata(&answer.head, "continue") {
            // Base64 for URLs, perhaps with padding, so that a query takes it as it is, apart from `=`.
            Some(token) => path = format!("{first}&continue={}", token.replace('=', "%3D")),
            None => return Ok(bytes),
        }
    }
}

/// A field of the metadata of a list, which precede its items; none if it is empty.
pub(super) fn metadata(head: &[u8], field: &str) -> Option<String> {
    let text = String::from_utf8_lossy(head);
    let metadata = text.split(r#""items":"#).next().unwrap_or_default();
    let (_, rest) = metadata.split_once(&format!(r#""{field}":""#))?;
    rest.split('"').next().filter(|value| !value.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_the_next_one_unless_it_is_the_last() {
        let page = br#"{"kind":"ConfigMapList","metadata":{"resourceVersion":"5","continue":"eyJ2_w=="},"items":[{"#;
        assert_eq!(metadata(page, "continue").as_deref(), Some("eyJ2_w=="));
        assert_eq!(metadata(br#"{"metadata":{},"items":[{"data":{"continue":"no"}"#, "continue"), None);
        assert_eq!(metadata(br#"{"metadata":{"continue":""},"items":[]}"#, "continue"), None);
    }
}

//! `encoders`: Base64. Kubernetes does not have it.
use base64::{
    Engine as _,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use super::grow_text;
use crate::{Error, Function, Library, Meter, Type, Value, value::Octets};

/// The only version.
pub static ENCODERS: Library =
    Library { name: "cel.lib.ext.encoders", functions, macros: &[], types: Vec::new, validators: &[] };

const ENCODED: GeneralPurposeConfig = GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true);
const PADDED: GeneralPurpose = GeneralPurpose::new(&STANDARD, ENCODED);
const UNPADDED: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, ENCODED.with_decode_padding_mode(DecodePaddingMode::RequireNone));

fn functions() -> Vec<Function> {
    vec![
        Function::new("base64.decode").global("base64_decode_string", &[Type::String], Type::Bytes).does(
            |args, meter| match args {
                [Value::String(text)] => decode(text, meter),
                _ => Err(Error::no_such_overload()),
            },
        ),
        Function::new("base64.encode").global("base64_encode_bytes", &[Type::Bytes], Type::String).does(
            |args, meter| match args {
                [Value::Bytes(bytes)] => {
                    grow_text(meter, 0, bytes.len().saturating_mul(2))?;
                    Ok(PADDED.encode(&**bytes).into())
                }
                _ => Err(Error::no_such_overload()),
            },
        ),
    ]
}

/// Decodes text with or without padding. Ends of lines do not count.
fn decode<'a>(text: &str, meter: &dyn Meter) -> Result<Value<'a>, Error> {
    grow_text(meter, 0, text.len())?;
    let encoded: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    match PADDED.decode(&encoded).or_else(|_| UNPADDED.decode(&encoded)) {
        Ok(bytes) => Ok(Value::Bytes(Octets::Shared(bytes.into()))),
        Err(_) => Err(Error::new(format!("illegal base64 data at input byte {}", illegal_byte(text)))),
    }
}

/// The first byte that encodes nothing, or the last byte, which is then a single character at the end.
fn illegal_byte(text: &str) -> usize {
    let encodes = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'\r' | b'\n');
    text.bytes().position(|byte| !encodes(byte)).unwrap_or(text.len().saturating_sub(1))
}

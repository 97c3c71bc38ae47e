//! Tests of signatures: the examples of RFC 7515, our own tokens, and forged ones.
use super::*;

/// RFC 7515, appendix A.3.
const EXAMPLE: &str = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";

fn example_key() -> PublicKey {
    let jwk = json!({
        "kty": "EC", "crv": "P-256",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    });
    PublicKey::from_jwk(&jwk).unwrap()
}

fn key() -> SigningKey {
    SigningKey::from_pkcs8(&rcgen::KeyPair::generate().unwrap().serialize_der()).unwrap()
}

fn verify(token: &str, keys: &[&PublicKey]) -> Result<Value, String> {
    let read = UnverifiedToken::read(token).ok_or("it is no token")?;
    read.verify(keys.iter().copied()).map_err(|why| why.0)
}

#[test]
fn the_example_of_the_rfc_is_valid() {
    let claims = verify(EXAMPLE, &[&example_key()]).unwrap();
    assert_eq!(claims["iss"], "joe");
    assert_eq!(UnverifiedToken::read(EXAMPLE).unwrap().issuer(), "joe");
}

#[test]
fn what_a_key_signs_it_checks_and_no_other() {
    let (key, other) = (key(), key());
    let claims = json!({"iss": "us", "n": 1});
    let token = key.sign(&claims);
    assert_eq!(verify(&token, &[&key.public]), Ok(claims.clone()));
    let published = PublicKey::from_jwk(&key.public.to_jwk()).unwrap();
    assert_eq!(verify(&token, &[&published]), Ok(claims));
    assert_eq!(verify(&token, &[&other.public]), Err("no key has the id that it names".to_owned()));
    let renamed = PublicKey { id: key.public.id.clone(), ..other.public.clone() };
    assert!(verify(&token, &[&renamed]).unwrap_err().starts_with("no key has signed it"));
    assert!(verify(&token, &[]).is_err());
}

#[test]
fn a_changed_token_is_refused() {
    let key = key();
    let token = key.sign(&json!({"iss": "us", "sub": "ann"}));
    let parts: Vec<&str> = token.split('.').collect();
    let encoded = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let named = |alg: &str| encoded(&json!({"alg": alg, "kid": key.public.id}).to_string());
    let claims = encoded(r#"{"iss":"us","sub":"root"}"#);
    for forged in [
        format!("{}.{claims}.{}", parts[0], parts[2]),
        format!("{}.{}.", parts[0], parts[1]),
        format!("{}.{}.", named("none"), parts[1]),
        format!("{}.{}.{}", named("none"), parts[1], parts[2]),
        format!("{}.{}.{}", named("HS256"), parts[1], parts[2]),
        format!("{}.{}.{}", named("RS256"), parts[1], parts[2]),
        format!("{}.{}.{}", named("es256"), parts[1], parts[2]),
        format!("{}.{}.{}", encoded(r#"{"alg":"ES256","crit":["exp"]}"#), parts[1], parts[2]),
    ] {
        assert!(verify(&forged, &[&key.public]).is_err(), "{forged}");
    }
    for no_token in
        ["", "a", "a.b", "a.b.c", "..", &format!("{token}="), &format!("{token} "), &"a".repeat(LONGEST + 1)]
    {
        assert!(UnverifiedToken::read(no_token).is_none(), "{no_token}");
    }
}

/// The public key as the secret of a symmetric algorithm is the oldest trick.
#[test]
fn a_public_key_is_no_secret_of_hmac() {
    use ring::hmac;
    let key = key();
    let header = URL_SAFE_NO_PAD.encode(json!({"alg": "HS256", "kid": key.public.id}).to_string());
    let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(r#"{"iss":"us"}"#));
    let Material::P256(point) = &key.public.material else { unreachable!("keys of our own are of P-256") };
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, point), signed.as_bytes());
    let token = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature));
    assert!(verify(&token, &[&key.public]).is_err());
}

#[test]
fn keys_that_cannot_check_signatures_are_skipped() {
    for jwk in [
        json!({"kty": "oct", "k": "c2VjcmV0"}),
        json!({"kty": "EC", "crv": "P-521", "x": "AA", "y": "AA"}),
        json!({"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}),
        json!({"kty": "RSA", "use": "enc", "n": "AQAB", "e": "AQAB"}),
        json!({"kty": "OKP", "crv": "X25519", "x": "AA"}),
        json!({}),
        json!([]),
    ] {
        assert!(PublicKey::from_jwk(&jwk).is_none(), "{jwk}");
    }
    assert!(SigningKey::from_pkcs8(b"nothing").is_none());
}

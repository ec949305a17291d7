//! Attacks on tokens, each beside a token that is right but for that.

use super::*;
use proptest::prelude::*;
use ring::{
    hmac,
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256,
        RSA_PKCS1_SHA512, RSA_PSS_SHA256, RsaEncoding, RsaKeyPair, RsaPublicKeyComponents,
    },
};
use serde_json::{Value, json};
use std::sync::OnceLock;

const ISSUER: &str = "https://id.example";
const NOW: u64 = 1_800_000_000;

const EXPECTED: ExpectedToken<'_> =
    ExpectedToken { issuer: ISSUER, client: "us", nonce: "n-1", now: NOW };

/// The keys of a provider, and what it publishes.
struct Provider {
    rsa: RsaKeyPair,
    p256: EcdsaKeyPair,
    ed25519: Ed25519KeyPair,
}

fn provider() -> &'static Provider {
    static MADE: OnceLock<Provider> = OnceLock::new();
    MADE.get_or_init(|| {
        let random = SystemRandom::new();
        let scheme = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let p256 = EcdsaKeyPair::generate_pkcs8(scheme, &random).unwrap();
        let ed25519 = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        Provider {
            // For these tests alone: `ring` makes none of this kind.
            rsa: RsaKeyPair::from_pkcs8(include_bytes!("test-rsa-key.der")).unwrap(),
            p256: EcdsaKeyPair::from_pkcs8(scheme, p256.as_ref(), &random).unwrap(),
            ed25519: Ed25519KeyPair::from_pkcs8(ed25519.as_ref()).unwrap(),
        }
    })
}

fn base64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Provider {
    fn published(&self) -> Value {
        let rsa = RsaPublicKeyComponents::<Vec<u8>>::from(self.rsa.public());
        let point = self.p256.public_key().as_ref();
        json!({ "keys": [
            {
                "kty": "RSA", "kid": "r", "use": "sig",
                "n": base64(rsa.n),
                "e": base64(rsa.e),
            },
            { "kty": "EC", "crv": "P-256", "kid": "p", "x": base64(&point[1..33]), "y": base64(&point[33..]) },
            { "kty": "OKP", "crv": "Ed25519", "kid": "e", "x": base64(self.ed25519.public_key()) },
        ] })
    }

    fn keys(&self) -> KeySet {
        KeySet::parse(self.published().to_string().as_bytes()).unwrap()
    }

    fn rsa(&self, encoding: &'static dyn RsaEncoding, message: &str) -> Vec<u8> {
        let mut signature = vec![0; self.rsa.public().modulus_len()];
        let random = SystemRandom::new();
        self.rsa.sign(encoding, &random, message.as_bytes(), &mut signature).unwrap();
        signature
    }

    fn sign(&self, algorithm: &str, message: &str) -> Vec<u8> {
        match algorithm {
            "RS256" => self.rsa(&RSA_PKCS1_SHA256, message),
            "RS512" => self.rsa(&RSA_PKCS1_SHA512, message),
            "PS256" => self.rsa(&RSA_PSS_SHA256, message),
            "ES256" => {
                let random = SystemRandom::new();
                self.p256.sign(&random, message.as_bytes()).unwrap().as_ref().to_vec()
            }
            "EdDSA" => self.ed25519.sign(message.as_bytes()).as_ref().to_vec(),
            other => panic!("{other}"),
        }
    }
}

fn claims() -> Value {
    json!({
        "iss": ISSUER, "sub": "7", "aud": "us", "nonce": "n-1",
        "exp": NOW + 300, "iat": NOW - 1,
    })
}

/// A token with this header, these claims and a signature in that way.
fn token(header: &Value, claims: &str, algorithm: &str) -> String {
    let message = format!("{}.{}", base64(header.to_string()), base64(claims));
    let signature = provider().sign(algorithm, &message);
    format!("{message}.{}", base64(signature))
}

fn header(algorithm: &str, key: &str) -> Value {
    json!({ "alg": algorithm, "kid": key, "typ": "JWT" })
}

fn verify(text: &str) -> Result<ProviderSubject, IdTokenFault> {
    SignedToken::parse(text)?.verify(&provider().keys(), EXPECTED)
}

fn with_claims(claims: &Value) -> Result<ProviderSubject, IdTokenFault> {
    verify(&token(&header("ES256", "p"), &claims.to_string(), "ES256"))
}

#[test]
fn a_token_is_believed_in_each_way_of_signing() {
    let claims = claims().to_string();
    for (algorithm, key) in [("RS256", "r"), ("PS256", "r"), ("ES256", "p"), ("EdDSA", "e")] {
        let right = token(&header(algorithm, key), &claims, algorithm);
        let subject = verify(&right).unwrap();
        assert_eq!((subject.issuer.as_str(), subject.subject.as_str()), (ISSUER, "7"));
        // Without a name there is one key that it can mean.
        assert!(verify(&token(&json!({ "alg": algorithm }), &claims, algorithm)).is_ok());
        // Each part of it counts.
        for place in 0..right.len() {
            let mut bytes = right.clone().into_bytes();
            bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            assert!(verify(&changed).is_err(), "{algorithm} at {place}");
        }
    }
}

#[test]
fn no_algorithm_is_taken_that_is_not_the_keys() {
    let (claims, keys) = (claims().to_string(), provider().published());
    let bare = |header: &Value, signature: &[u8]| {
        format!("{}.{}.{}", base64(header.to_string()), base64(&claims), base64(signature))
    };
    // Not signed.
    for none in ["none", "None", "NONE", "nOnE", ""] {
        assert_eq!(verify(&bare(&header(none, "r"), b"")), Err(IdTokenFault::Algorithm), "{none}");
        assert_eq!(verify(&bare(&header(none, "r"), b"x")), Err(IdTokenFault::Algorithm));
    }
    // Signed with a public key as if it was a shared secret.
    let modulus = keys["keys"][0]["n"].as_str().unwrap();
    for secret in [modulus.as_bytes(), b"us", keys.to_string().as_bytes()] {
        let header = header("HS256", "r");
        let message = format!("{}.{}", base64(header.to_string()), base64(&claims));
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message.as_bytes());
        let forged = format!("{message}.{}", base64(tag.as_ref()));
        assert_eq!(verify(&forged), Err(IdTokenFault::Algorithm));
    }
    // A key of one kind under the name of another, and the reverse.
    for (said, key) in
        [("RS256", "p"), ("RS256", "e"), ("ES256", "r"), ("EdDSA", "p"), ("PS256", "e")]
    {
        for real in ["RS256", "PS256", "ES256", "EdDSA"] {
            let confused = token(&header(said, key), &claims, real);
            assert_eq!(verify(&confused), Err(IdTokenFault::NoKey), "{said} {key} {real}");
        }
    }
    // Right key, wrong way.
    for (said, real) in [("RS256", "PS256"), ("PS256", "RS256"), ("RS256", "RS512")] {
        let confused = token(&header(said, "r"), &claims, real);
        assert_eq!(verify(&confused), Err(IdTokenFault::Signature), "{said} {real}");
    }
    assert_eq!(
        verify(&token(&header("RS512", "r"), &claims, "RS512")),
        Err(IdTokenFault::Algorithm)
    );
    // Keys of their own in the header are no keys.
    for field in ["jwk", "jku", "x5u", "x5c"] {
        let mut own = header("ES256", "unknown");
        own[field] = keys["keys"][1].clone();
        assert_eq!(verify(&token(&own, &claims, "ES256")), Err(IdTokenFault::NoKey), "{field}");
    }
    // Whatever must be understood is not.
    for (field, value) in [
        ("crit", json!(["exp"])),
        ("typ", json!("at+jwt")),
        ("crit", json!([])),
        ("crit", Value::Null),
        ("crit", json!("")),
        ("typ", json!("logout+jwt")),
        ("typ", json!(["JWT"])),
        ("kid", json!(7)),
        ("alg", json!(["ES256"])),
        ("alg", Value::Null),
    ] {
        let mut odd = header("ES256", "p");
        odd[field] = value;
        assert_eq!(verify(&token(&odd, &claims, "ES256")), Err(IdTokenFault::Malformed), "{field}");
    }
}

#[test]
fn a_key_serves_only_its_purpose() {
    let claims = claims().to_string();
    let right = token(&header("ES256", "p"), &claims, "ES256");
    let nameless = token(&json!({ "alg": "ES256" }), &claims, "ES256");
    let with = |edit: &dyn Fn(&mut Vec<Value>)| {
        let mut published = provider().published();
        edit(published["keys"].as_array_mut().unwrap());
        KeySet::parse(published.to_string().as_bytes()).unwrap()
    };
    let verify =
        |text: &str, keys: &KeySet| SignedToken::parse(text).unwrap().verify(keys, EXPECTED);
    for (field, value) in [
        ("use", json!("enc")),
        ("key_ops", json!(["encrypt"])),
        ("alg", json!("ES384")),
        ("alg", json!("RS256")),
        ("alg", json!("HS256")),
        ("crv", json!("secp256k1")),
        ("kty", json!("oct")),
        ("kid", json!("P")),
        ("x", json!("AA")),
        ("y", json!(7)),
    ] {
        let keys = with(&|keys| keys[1][field] = value.clone());
        assert_eq!(verify(&right, &keys), Err(IdTokenFault::NoKey), "{field} {value}");
    }
    let marked = with(&|keys| {
        keys[1]["alg"] = "ES256".into();
        keys[1]["key_ops"] = json!(["verify"]);
    });
    assert!(verify(&right, &marked).is_ok() && verify(&nameless, &marked).is_ok());
    // Two that could be meant are none.
    let doubled = with(&|keys| keys.push(keys[1].clone()));
    assert_eq!(verify(&right, &doubled), Err(IdTokenFault::NoKey));
    assert_eq!(verify(&nameless, &doubled), Err(IdTokenFault::NoKey));
    // One that is withdrawn.
    let without = with(&|keys| drop(keys.remove(1)));
    assert_eq!(verify(&right, &without), Err(IdTokenFault::NoKey));
    let crowd = json!({ "keys": vec![provider().published()["keys"][1].clone(); 65] });
    assert!(KeySet::parse(crowd.to_string().as_bytes()).is_none());
}

#[test]
fn every_claim_must_be_there_and_be_right() {
    use IdTokenFault as Fault;
    assert!(with_claims(&claims()).is_ok());
    for (claim, value, fault) in [
        ("iss", json!("https://id.example/"), Fault::Issuer),
        ("iss", json!("https://evil.example"), Fault::Issuer),
        ("iss", json!(["https://id.example"]), Fault::Claims),
        ("aud", json!("them"), Fault::Audience),
        ("aud", json!("US"), Fault::Audience),
        ("aud", json!([]), Fault::Audience),
        ("aud", json!(["them"]), Fault::Audience),
        ("aud", json!(["us", "them"]), Fault::Audience),
        ("aud", json!(null), Fault::Claims),
        ("azp", json!("them"), Fault::Audience),
        ("exp", json!(NOW - 60), Fault::Time),
        ("exp", json!(0), Fault::Time),
        ("exp", json!(-1), Fault::Time),
        ("exp", json!("1800000300"), Fault::Claims),
        ("exp", json!(null), Fault::Claims),
        ("iat", json!(NOW + 61), Fault::Time),
        ("iat", json!(1e300), Fault::Time),
        ("nbf", json!(NOW + 61), Fault::Time),
        ("nonce", json!("n-2"), Fault::Nonce),
        ("nonce", json!(""), Fault::Nonce),
        ("sub", json!(""), Fault::Subject),
        ("sub", json!("7\n"), Fault::Subject),
        ("sub", json!("\u{202e}7"), Fault::Subject),
        ("sub", json!("x".repeat(256)), Fault::Subject),
        ("sub", json!(7), Fault::Claims),
    ] {
        let mut wrong = claims();
        wrong[claim] = value.clone();
        assert_eq!(with_claims(&wrong), Err(fault), "{claim} {value}");
    }
    for claim in ["iss", "sub", "aud", "exp", "iat", "nonce"] {
        let mut without = claims();
        without.as_object_mut().unwrap().remove(claim);
        assert_eq!(with_claims(&without), Err(Fault::Claims), "{claim}");
    }
    // Controls: clocks differ a little, and a token may be for others too where we asked for it.
    for (claim, value) in [
        ("exp", json!(NOW - 59)),
        ("exp", json!(1_800_000_300.5)),
        ("iat", json!(NOW + 60)),
        ("nbf", json!(NOW)),
        ("azp", json!("us")),
        ("aud", json!(["us"])),
    ] {
        let mut right = claims();
        right[claim] = value.clone();
        assert!(with_claims(&right).is_ok(), "{claim} {value}");
    }
    let mut shared = claims();
    (shared["aud"], shared["azp"]) = (json!(["them", "us"]), json!("us"));
    assert!(with_claims(&shared).is_ok());
    shared["azp"] = json!("them");
    assert_eq!(with_claims(&shared), Err(Fault::Audience));
}

#[test]
fn a_claim_that_stands_twice_is_none() {
    let text = claims().to_string();
    for second in [r#""sub":"8""#, r#""iss":"https://id.example""#, r#""nonce":"n-1""#] {
        let doubled = text.replacen('{', &format!("{{{second},"), 1);
        let signed = token(&header("ES256", "p"), &doubled, "ES256");
        assert_eq!(verify(&signed), Err(IdTokenFault::Claims), "{second}");
    }
}

#[test]
fn a_header_that_can_be_read_in_two_ways_is_none() {
    let claims = claims().to_string();
    let signed = |header: &str| {
        let message = format!("{}.{}", base64(header), base64(&claims));
        format!("{message}.{}", base64(provider().sign("ES256", &message)))
    };
    assert!(verify(&signed(r#"{"alg":"ES256","kid":"p"}"#)).is_ok());
    for header in [
        r#"{"alg":"none","alg":"ES256","kid":"p"}"#,
        r#"{"alg":"ES256","alg":"ES256","kid":"p"}"#,
        r#"{"alg":"ES256","kid":"r","kid":"p"}"#,
        r#"{"alg":"ES256","kid":"p","typ":"JWT","typ":"JWT"}"#,
        r#"{"alg":"ES256","kid":"p","cr\u0069t":["b64"],"b64":false}"#,
        r#"{"alg":"ES256","kid":"p"} "x""#,
        r#"["ES256","p"]"#,
        "\u{feff}{\"alg\":\"ES256\",\"kid\":\"p\"}",
        "",
    ] {
        assert_eq!(verify(&signed(header)), Err(IdTokenFault::Malformed), "{header}");
    }
}

#[test]
fn numbers_without_measure_are_no_time() {
    use IdTokenFault as Fault;
    let with = |claim: &str, number: &str| {
        let marked = claims()
            .to_string()
            .replace(&format!("\"{claim}\":"), &format!("\"{claim}\":{number},\"was\":"));
        verify(&token(&header("EdDSA", "e"), &marked, "EdDSA"))
    };
    let long = format!("1{}", "0".repeat(2_000));
    for (claim, number, fault) in [
        ("exp", "1e400", Fault::Claims),
        ("exp", &long, Fault::Claims),
        ("exp", "-1e400", Fault::Claims),
        ("exp", "NaN", Fault::Claims),
        ("exp", "Infinity", Fault::Claims),
        ("exp", "true", Fault::Claims),
        ("exp", "[1e9]", Fault::Claims),
        ("exp", "-9223372036854775809", Fault::Time),
        ("exp", "-0.0", Fault::Time),
        ("exp", "1e-300", Fault::Time),
        ("iat", "18446744073709551616", Fault::Time),
        ("iat", "1e308", Fault::Time),
        ("iat", "1e309", Fault::Claims),
    ] {
        assert_eq!(with(claim, number), Err(fault), "{claim} {number}");
    }
    // The controls: large, long and with a fraction, and still a time that fits.
    let fraction = format!("1800000000.{}", "1".repeat(500));
    for (claim, number) in [
        ("exp", "18446744073709551616"),
        ("exp", "1.8000003e9"),
        ("iat", "0"),
        ("iat", fraction.as_str()),
    ] {
        assert!(with(claim, number).is_ok(), "{claim} {number}");
    }
}

#[test]
fn nesting_and_crowds_in_a_token_end_it_soon() {
    use IdTokenFault as Fault;
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let with = |more: &str| {
        let text = claims().to_string().replacen('{', &format!("{{{more},"), 1);
        verify(&token(&header("EdDSA", "e"), &text, "EdDSA"))
    };
    // What is not read may be of any shape, and costs nothing; a claim of another shape is none.
    assert!(with(&format!("\"more\":{}", nested(100))).is_ok());
    assert!(with(&format!("\"more\":{}", nested(5_000))).is_ok());
    let text = claims().to_string().replace("\"us\"", &nested(5_000));
    assert_eq!(verify(&token(&header("EdDSA", "e"), &text, "EdDSA")), Err(Fault::Claims));
    let mut crowd = claims();
    crowd["aud"] = json!(vec!["us"; 1_000]);
    assert_eq!(with_claims(&crowd), Err(Fault::Audience));
    crowd["azp"] = json!("us");
    assert!(with_claims(&crowd).is_ok());
    assert_eq!(with(&format!("\"more\":\"{}\"", "x".repeat(20_000))), Err(Fault::Malformed));
}

#[test]
fn a_subject_is_one_spelling_and_nothing_that_looks_like_it() {
    for like in [
        "7\0",
        "\u{0}7",
        "7 ",
        " 7",
        "7\t",
        "\u{a0}7",
        "７",
        "７\u{200b}",
        "7\u{200b}",
        "7\u{301}",
        "\u{feff}7",
        "7\u{2028}",
        "٧",
        "7\r\n",
        "7\u{7f}",
        "7\u{ad}",
    ] {
        let mut wrong = claims();
        wrong["sub"] = like.into();
        assert_eq!(with_claims(&wrong), Err(IdTokenFault::Subject), "{like:?}");
    }
    // Others of the same letters are others: nothing is folded, cut or unescaped.
    for other in ["a", "A", "07", "7.0", "%37", "7+", "&#55;", "7 8", &"7".repeat(255)] {
        let mut right = claims();
        right["sub"] = other.into();
        assert_eq!(with_claims(&right).unwrap().subject, other);
    }
    let escaped = claims().to_string().replace("\"7\"", "\"\\u0037\"");
    let escaped = verify(&token(&header("EdDSA", "e"), &escaped, "EdDSA"));
    assert_eq!(escaped.unwrap().subject, "7", "the same text");
    let lone = claims().to_string().replace("\"7\"", "\"\\ud800\"");
    let lone = verify(&token(&header("EdDSA", "e"), &lone, "EdDSA"));
    assert_eq!(lone, Err(IdTokenFault::Claims));
}

/// A set of keys whose numbers are far too large, and the time that a token takes by it.
#[test]
fn no_key_is_so_large_that_it_keeps_the_server_busy() {
    let claims = claims().to_string();
    let right = token(&header("RS256", "r"), &claims, "RS256");
    let rsa = RsaPublicKeyComponents::<Vec<u8>>::from(provider().rsa.public());
    let by = |n: &[u8], e: &[u8]| {
        let key = json!({ "kty": "RSA", "kid": "r", "n": base64(n), "e": base64(e) });
        let keys = KeySet::parse(json!({ "keys": [key] }).to_string().as_bytes()).unwrap();
        SignedToken::parse(&right).unwrap().verify(&keys, EXPECTED)
    };
    assert!(by(&rsa.n, &rsa.e).is_ok());
    // Zeros in front change no number.
    assert!(by(&[&[0; 2_000], &rsa.n[..]].concat(), &rsa.e).is_ok());
    for (n, e, fault) in [
        (vec![0xff; 1_025], rsa.e.clone(), IdTokenFault::NoKey),
        (vec![0xff; 2_048], rsa.e.clone(), IdTokenFault::NoKey),
        (vec![0xff; 100_000], rsa.e.clone(), IdTokenFault::NoKey),
        (rsa.n.clone(), vec![0xff; 6], IdTokenFault::NoKey),
        (rsa.n.clone(), vec![0xff; 100_000], IdTokenFault::NoKey),
        (rsa.n.clone(), vec![0xff; 5], IdTokenFault::Signature),
        (rsa.n.clone(), vec![0xff; 4], IdTokenFault::Signature),
        (rsa.n.clone(), vec![1], IdTokenFault::Signature),
        (rsa.n.clone(), vec![2], IdTokenFault::Signature),
        (rsa.n.clone(), vec![0], IdTokenFault::NoKey),
        (vec![0xff; 1_024], rsa.e.clone(), IdTokenFault::Signature),
        (vec![0x80; 256], rsa.e.clone(), IdTokenFault::Signature),
        (vec![0xff; 127], rsa.e.clone(), IdTokenFault::Signature),
        (vec![3], rsa.e.clone(), IdTokenFault::Signature),
    ] {
        assert_eq!(by(&n, &e), Err(fault), "{} {}", n.len(), e.len());
    }
    // The slowest that is tried: 8192 bits, and the largest exponent that is taken.
    let key = json!({ "kty": "RSA", "kid": "r", "n": base64([0xff; 1_024]), "e": base64([1, 0xff, 0xff, 0xff, 0xff]) });
    let keys = KeySet::parse(json!({ "keys": [key] }).to_string().as_bytes()).unwrap();
    let signed = format!("{}.{}", right.rsplit_once('.').unwrap().0, base64([0x7f; 1_024]));
    let began = std::time::Instant::now();
    let slow = SignedToken::parse(&signed).unwrap().verify(&keys, EXPECTED);
    assert_eq!(slow, Err(IdTokenFault::Signature));
    assert!(began.elapsed() < std::time::Duration::from_secs(1), "{:?}", began.elapsed());
}

#[test]
fn a_set_of_keys_that_can_be_read_in_two_ways_is_not_read() {
    let claims = claims().to_string();
    let right = token(&header("ES256", "p"), &claims, "ES256");
    let published = provider().published()["keys"][1].to_string();
    let by = |text: String| {
        let keys = KeySet::parse(text.as_bytes())?;
        Some(SignedToken::parse(&right).unwrap().verify(&keys, EXPECTED))
    };
    let set = |keys: &str| by(format!(r#"{{"keys":[{keys}]}}"#));
    assert!(set(&published).unwrap().is_ok());
    for twice in
        [r#""x":"AA""#, r#""kid":"q""#, r#""kty":"EC""#, r#""alg":"RS256""#, r#""use":"enc""#]
    {
        let key = published.replacen('{', &format!("{{{twice},"), 1);
        let more = twice.contains("alg") || twice.contains("use");
        let key = if more { key.replacen('{', r#"{"alg":"ES256","use":"sig","#, 1) } else { key };
        assert_eq!(set(&key), Some(Err(IdTokenFault::NoKey)), "{key}");
        // What isn't read spoils no other.
        assert!(set(&format!("{key},{published}")).unwrap().is_ok());
    }
    for other in ["7", "null", "\"x\"", "[[]]", "{}", "{\"kty\":{\"a\":[1]}}"] {
        assert!(set(&format!("{other},{published}")).unwrap().is_ok(), "{other}");
    }
    let doubled = format!(r#"{{"keys":[],"keys":[{published}]}}"#);
    assert_eq!(by(doubled), None);
    // Deeper than anything that is read.
    assert_eq!(set(&format!("{}{},{published}", "[".repeat(5_000), "]".repeat(5_000))), None);
    assert_eq!(by("[".repeat(200_000)), None);
    assert_eq!(by(format!(r#"{{"keys":{}"#, "[{\"k\":".repeat(20_000))), None);
}

#[test]
fn addresses_and_names_make_nobody_somebody_else() {
    for verified in [json!(true), json!(false), Value::Null] {
        let mut claims = claims();
        claims["email"] = "anna@example.org".into();
        claims["email_verified"] = verified;
        claims["preferred_username"] = "anna".into();
        claims["name"] = "anna".into();
        assert_eq!(with_claims(&claims).unwrap().subject, "7");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_a_token_or_none(text in "\\PC{0,200}", parts in proptest::collection::vec(any::<Vec<u8>>(), 0..5)) {
        _ = verify(&text);
        let dotted = parts.iter().map(base64).collect::<Vec<_>>().join(".");
        prop_assert!(verify(&dotted).is_err());
        _ = KeySet::parse(text.as_bytes());
        _ = KeySet::parse(&parts.concat());
    }

    #[test]
    fn any_claims_are_believed_or_not(claims in "[{}\\[\\]\":,a-z0-9.eE+-]{0,120}", name in "\\PC{0,10}") {
        let signed = token(&header("EdDSA", "e"), &claims, "EdDSA");
        prop_assert!(verify(&signed).is_err());
        let odd = json!({ "alg": "EdDSA", "kid": name });
        _ = verify(&token(&odd, &claims, "EdDSA"));
    }

    #[test]
    fn any_key_is_read_or_left_out(n in any::<Vec<u8>>(), x in any::<Vec<u8>>(), kty in "RSA|EC|OKP|oct", crv in "P-256|Ed25519|") {
        let key = json!({ "kty": kty, "crv": crv, "n": base64(&n), "e": base64(&x), "x": base64(&x), "y": base64(&n) });
        let rsa = json!({ "kty": "RSA", "n": base64(&n), "e": base64(&x) });
        let keys = KeySet::parse(json!({ "keys": [key, rsa] }).to_string().as_bytes()).unwrap();
        for (algorithm, real) in [("RS256", "RS256"), ("ES256", "ES256"), ("EdDSA", "EdDSA")] {
            let signed = token(&json!({ "alg": algorithm }), &claims().to_string(), real);
            prop_assert!(SignedToken::parse(&signed).unwrap().verify(&keys, EXPECTED).is_err());
        }
    }
}

//! TLS as the network uses it: certificates are verified by the platform, and a fault is described in words.
//!
//! Verification is the platform's own and no less strict. Where it refuses a certificate, [`NamedFaults`] looks whether the
//! certificate signed itself, which the platform reports in several ways.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, InvalidMessage, OtherError,
    SignatureScheme,
};
use rustls_platform_verifier::Verifier;

use crate::time::Timestamp;

/// Names of a certificate that are told.
const MOST_NAMES: usize = 3;

/// The TLS settings of the HTTP client: those that it would make itself, with faults that can be told apart.
pub(super) fn client_config() -> Result<ClientConfig, TlsError> {
    let provider = match CryptoProvider::get_default() {
        Some(provider) => Arc::clone(provider),
        None => Arc::new(rustls::crypto::ring::default_provider()),
    };
    let verifier = NamedFaults(Verifier::new(Arc::clone(&provider))?);
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(rustls::ALL_VERSIONS)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The platform's verifier, with a name of its own for a certificate that signed itself.
#[derive(Debug)]
struct NamedFaults(Verifier);

impl ServerCertVerifier for NamedFaults {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let verified = self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        verified.map_err(|error| match &error {
            TlsError::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::Other(_))
                if is_self_signed(end_entity) =>
            {
                CertificateError::Other(OtherError(Arc::new(SelfSigned))).into()
            }
            _ => error,
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// Does the certificate name itself as its issuer?
fn is_self_signed(certificate: &CertificateDer<'_>) -> bool {
    webpki::EndEntityCert::try_from(certificate).is_ok_and(|read| read.issuer() == read.subject())
}

/// The certificate signed itself, and is not one that the platform trusts.
#[derive(Debug)]
struct SelfSigned;

impl fmt::Display for SelfSigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the certificate is self-signed")
    }
}

impl std::error::Error for SelfSigned {}

/// Why no secure connection could be made, in words.
pub(super) fn fault(error: &TlsError) -> String {
    let words = match error {
        TlsError::InvalidCertificate(error) => certificate_fault(error),
        TlsError::InvalidMessage(
            InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion,
        ) => "the server does not speak TLS; it may be plain HTTP".to_owned(),
        TlsError::AlertReceived(alert) => format!("the server broke the handshake off ({alert:?})"),
        TlsError::PeerIncompatible(_) => {
            "the server has no TLS version or cipher in common with us".to_owned()
        }
        TlsError::NoCertificatesPresented => "the server has no certificate".to_owned(),
        other => other.to_string(),
    };
    format!("TLS: {words}")
}

fn certificate_fault(error: &CertificateError) -> String {
    let time = |time: &UnixTime| Timestamp::from_seconds(i64::try_from(time.as_secs()).unwrap_or(i64::MAX));
    match error {
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("the certificate expired on {}", time(not_after))
        }
        CertificateError::Expired => "the certificate has expired".to_owned(),
        CertificateError::NotValidYetContext { not_before, .. } => {
            format!("the certificate is not valid before {}", time(not_before))
        }
        CertificateError::NotValidYet => "the certificate is not valid yet".to_owned(),
        CertificateError::NotValidForNameContext { expected, presented } => {
            let name = expected.to_str();
            match names(presented) {
                Some(names) => format!("the certificate is for {names}, not for `{name}`"),
                None => format!("the certificate is not for `{name}`"),
            }
        }
        CertificateError::NotValidForName => "the certificate is for another name".to_owned(),
        CertificateError::UnknownIssuer => "the issuer of the certificate is unknown".to_owned(),
        CertificateError::Revoked => "the certificate was revoked".to_owned(),
        CertificateError::BadSignature => "the signature of the certificate is wrong".to_owned(),
        CertificateError::BadEncoding => "the certificate can't be read".to_owned(),
        CertificateError::Other(OtherError(other)) if other.is::<SelfSigned>() => other.to_string(),
        CertificateError::Other(OtherError(other)) => format!("the certificate is not valid: {other}"),
        other => format!("the certificate is not valid: {other}"),
    }
}

/// The first names of a certificate. The library writes them as `DnsName("example.org")`.
fn names(presented: &[String]) -> Option<String> {
    let bare = |name: &String| match name.split('"').nth(1) {
        Some(quoted) => format!("`{quoted}`"),
        None => format!("`{name}`"),
    };
    let mut names: Vec<String> = presented.iter().take(MOST_NAMES).map(bare).collect();
    if presented.len() > MOST_NAMES {
        names.push(format!("{} more", presented.len() - MOST_NAMES));
    }
    (!names.is_empty()).then(|| names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_certificates_are_told_apart() {
        let at = |seconds| UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds));
        let expired = CertificateError::ExpiredContext { time: at(9), not_after: at(0) };
        assert_eq!(fault(&expired.into()), "TLS: the certificate expired on 1970-01-01T00:00:00Z");
        let early = CertificateError::NotValidYetContext { time: at(0), not_before: at(60) };
        assert_eq!(fault(&early.into()), "TLS: the certificate is not valid before 1970-01-01T00:01:00Z");
        let named = |presented: &[&str]| {
            let expected = ServerName::try_from("a.example").expect("a name");
            let presented = presented.iter().map(|name| (*name).to_owned()).collect();
            fault(&CertificateError::NotValidForNameContext { expected, presented }.into())
        };
        assert_eq!(
            named(&["DnsName(\"b.example\")", "*.c.example"]),
            "TLS: the certificate is for `b.example`, `*.c.example`, not for `a.example`"
        );
        assert_eq!(named(&[]), "TLS: the certificate is not for `a.example`");
        let own = CertificateError::Other(OtherError(Arc::new(SelfSigned)));
        assert_eq!(fault(&own.into()), "TLS: the certificate is self-signed");
        let unknown = CertificateError::UnknownIssuer;
        assert_eq!(fault(&unknown.into()), "TLS: the issuer of the certificate is unknown");
    }

    #[test]
    fn a_server_without_tls_is_told() {
        let plain = TlsError::InvalidMessage(InvalidMessage::InvalidContentType);
        assert_eq!(fault(&plain), "TLS: the server does not speak TLS; it may be plain HTTP");
    }
}

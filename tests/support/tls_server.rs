//! HTTPS servers on loopback, whose certificates have one fault each.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What is wrong with a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// It ended years ago.
    Expired,
    /// It begins in years.
    NotYetValid,
    /// It is for `other.example`.
    WrongName,
    /// Nobody trusts who signed it.
    UnknownIssuer,
    /// It signed itself.
    SelfSigned,
    /// It signed itself, and says that it may sign others.
    SelfSignedAuthority,
}

/// Who signs certificates, and is trusted by those who read [`Authority::pem`].
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its own certificate.
    pub pem: String,
}

impl Authority {
    pub fn new(name: &str) -> Authority {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let pem = params.self_signed(&key).expect("a certificate").pem();
        Authority { issuer: Issuer::new(params, key), pem }
    }
}

/// Starts a server that answers every request with a small page, or would if its certificate were good. It runs until the
/// tests end.
pub fn serve(fault: Fault, trusted: &Authority) -> SocketAddr {
    let name = if fault == Fault::WrongName { "other.example" } else { "127.0.0.1" };
    let mut params = CertificateParams::new(vec![name.to_owned()]).expect("parameters");
    params.distinguished_name.push(DnType::CommonName, name);
    match fault {
        Fault::Expired => {
            (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
        }
        Fault::NotYetValid => params.not_before = date_time_ymd(2090, 1, 1),
        Fault::SelfSignedAuthority => params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained),
        _ => {}
    }
    let key = KeyPair::generate().expect("a key");
    let certificate = match fault {
        Fault::SelfSigned | Fault::SelfSignedAuthority => params.self_signed(&key),
        Fault::UnknownIssuer => params.signed_by(&key, &Authority::new("nobody knows it").issuer),
        _ => params.signed_by(&key, &trusted.issuer),
    };
    let chain = vec![CertificateDer::from(certificate.expect("a certificate").der().to_vec())];
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a certificate and its key");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let config = Arc::new(config);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
            let Ok(session) = ServerConnection::new(Arc::clone(&config)) else { continue };
            let mut stream = StreamOwned::new(session, stream);
            let mut request = [0; 4096];
            if stream.read(&mut request).is_ok_and(|read| read > 0) {
                let page = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello";
                let _ = stream.write_all(page.as_bytes());
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
        }
    });
    address
}

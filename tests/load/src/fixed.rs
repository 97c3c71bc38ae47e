//! A plain axum server that answers every request with the same bytes: the most that a server in Rust could do here.
use std::{convert::Infallible, io, net::SocketAddr, path::PathBuf, sync::Arc};

use axum::{Router, body::Body, http::header, response::Response, routing::any, serve::Listener};
use bytes::Bytes;
use clap::Args;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
    server::TlsStream,
};

use crate::{Outcome, target};

#[derive(Args)]
pub(crate) struct Fixed {
    /// Address to listen on; port 0 chooses a free one.
    #[arg(long)]
    listen: SocketAddr,
    /// Size of an answer in bytes.
    #[arg(long)]
    size: usize,
    /// PEM file of a certificate chain, for TLS.
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    /// PEM file of its key.
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
}

impl Fixed {
    /// Serves until the process ends.
    pub(crate) async fn serve(&self) -> Outcome<Infallible> {
        let body = Bytes::from(vec![b'x'; self.size]);
        let answer = move || {
            let body = body.clone();
            async move {
                let mut response = Response::new(Body::from(body));
                let json = header::HeaderValue::from_static("application/json");
                response.headers_mut().insert(header::CONTENT_TYPE, json);
                response
            }
        };
        let router = Router::new().fallback(any(answer));
        let listener = TcpListener::bind(self.listen).await.map_err(|e| format!("{}: {e}", self.listen))?;
        let address = listener.local_addr()?;
        if let Some(acceptor) = self.acceptor()? {
            println!("listening on https://{address}");
            axum::serve(TlsListener { listener, acceptor }, router).await?;
        } else {
            println!("listening on http://{address}");
            axum::serve(listener, router).await?;
        }
        Err("the server ended".into())
    }

    /// What makes connections TLS, if there is a certificate.
    fn acceptor(&self) -> Outcome<Option<TlsAcceptor>> {
        let (Some(certificate), Some(key)) = (&self.certificate, &self.key) else { return Ok(None) };
        let chain = CertificateDer::pem_slice_iter(&target::read(certificate)?).collect::<Result<Vec<_>, _>>();
        let chain = chain.map_err(|e| format!("{}: {e}", certificate.display()))?;
        let key = PrivateKeyDer::from_pem_slice(&target::read(key)?).map_err(|e| format!("{}: {e}", key.display()))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec!["h2".into(), "http/1.1".into()];
        Ok(Some(Arc::new(config).into()))
    }
}

/// Accepts connections of TLS, one after the other: all of them come before anything is measured.
struct TlsListener {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        loop {
            // axum's own tries again, too.
            let (stream, address) = Listener::accept(&mut self.listener).await;
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

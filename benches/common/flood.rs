//! A server that sends its answers as fast as the client takes them, over plain sockets: what limits is the client.

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

/// Writes of a coalesced answer have this length, bytes.
const COALESCED: usize = 64 * 1024;
const CORS: &str = "Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: *, Authorization\r\n\
    Access-Control-Allow-Methods: *\r\nAccess-Control-Max-Age: 600\r\nCross-Origin-Resource-Policy: cross-origin\r\n";

/// Starts it on a free port, which it returns. A base URL is `http://…/coalesced/5000` or `http://…/single/5000`: with
/// 64 KiB a write or an event a write, and so many events an answer.
pub async fn start() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(serve(socket));
        }
    });
    port
}

/// One connection, request by request. That the client goes away ends it.
async fn serve(socket: TcpStream) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let mut socket = BufReader::new(socket);
    loop {
        let mut line = String::new();
        socket.read_line(&mut line).await.ok().filter(|length| *length > 0)?;
        let mut parts = line.split(' ');
        let (method, path) = (parts.next()?.to_owned(), parts.next()?.to_owned());
        let mut length = 0;
        loop {
            let mut header = String::new();
            socket.read_line(&mut header).await.ok().filter(|length| *length > 0)?;
            let header = header.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
        }
        socket.read_exact(&mut vec![0; length]).await.ok()?;
        let mut path = path.split('/').skip(1);
        let (mode, events) = (path.next()?.to_owned(), path.next().and_then(|n| n.parse().ok()));
        match (method.as_str(), events) {
            ("POST", Some(events)) => answer(socket.get_mut(), mode == "coalesced", events).await?,
            _ => {
                let head = format!("HTTP/1.1 204 No Content\r\n{CORS}\r\n");
                socket.get_mut().write_all(head.as_bytes()).await.ok()?;
            }
        }
    }
}

async fn answer(socket: &mut TcpStream, coalesced: bool, events: usize) -> Option<()> {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n{CORS}\r\n");
    socket.write_all(head.as_bytes()).await.ok()?;
    let mut waiting = Vec::with_capacity(2 * COALESCED);
    for n in 1..=events {
        let event = format!(
            "data: {{\"id\":\"flood\",\"object\":\"chat.completion.chunk\",\"created\":1763000000,\"model\":\"demo-model\",\
             \"choices\":[{{\"index\":0,\"delta\":{{\"content\":\" token\"}},\"finish_reason\":null}}],\
             \"usage\":{{\"prompt_tokens\":128,\"total_tokens\":{},\"completion_tokens\":{n}}}}}\n\n",
            128 + n
        );
        waiting.extend_from_slice(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes());
        if !coalesced || waiting.len() >= COALESCED {
            socket.write_all(&waiting).await.ok()?;
            waiting.clear();
        }
    }
    let finish = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n";
    waiting.extend_from_slice(format!("{:x}\r\n{finish}\r\n0\r\n\r\n", finish.len()).as_bytes());
    socket.write_all(&waiting).await.ok()
}

//! A demo endpoint that behaves like SGLang, with latencies and faults by choice; it can serve the built page too.

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    native::main()
}

#[cfg(target_arch = "wasm32")]
fn main() {}

#[cfg(not(target_arch = "wasm32"))]
mod native {
    use std::{
        io,
        net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
        path::PathBuf,
        process::ExitCode,
    };

    use axum::{Router, serve::ListenerExt};
    use clap::Parser;
    use streamgauge::demo::{DemoConfig, FaultShare, host, site};
    use tokio::net::TcpListener;

    /// A demo endpoint that behaves like SGLang: seeded latencies, a batch with a queue, and faults by choice.
    ///
    /// What it truly did is at /demo/truth. A request may ask for its own fault with the body key "demo_fault".
    #[derive(Parser)]
    #[command(version)]
    struct Arguments {
        /// Port of the endpoint; 0 takes a free one.
        #[arg(long, default_value_t = 8000)]
        port: u16,
        /// Folder of the built page, to be served as well.
        #[arg(long)]
        page: Option<PathBuf>,
        /// Port of the page; 0 takes a free one.
        #[arg(long, default_value_t = 8080)]
        page_port: u16,
        /// Looks at the options and ends.
        #[arg(long)]
        check: bool,
        /// Name of the one model.
        #[arg(long, default_value = "demo-model")]
        model: String,
        /// Key that requests must carry; without it any is taken.
        #[arg(long)]
        api_key: Option<String>,
        /// Whether other origins may read the answers.
        #[arg(long, default_value = "on", value_parser = ["on", "off"])]
        cors: String,
        /// Keys of the body to refuse with a 400, such as stream_options.continuous_usage_stats; may be repeated.
        #[arg(long)]
        refuse: Vec<String>,
        /// Which share of requests fails how, such as http_503=0.02,cut=0.01.
        #[arg(long, default_value = "", value_parser = FaultList::read)]
        faults: FaultList,
        /// Seed of latencies and faults.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Time to the first token of a short prompt when idle, ms.
        #[arg(long, default_value_t = DemoConfig::default().ttft_ms)]
        ttft_ms: f64,
        /// Added to it per 1,000 prompt tokens, ms.
        #[arg(long, default_value_t = DemoConfig::default().prefill_ms_per_1k)]
        prefill_ms: f64,
        /// Time between tokens when idle, ms.
        #[arg(long, default_value_t = DemoConfig::default().itl_ms)]
        itl_ms: f64,
        /// Relative spread of both.
        #[arg(long, default_value_t = DemoConfig::default().jitter)]
        jitter: f64,
        /// How much slower a full batch is, as a factor added.
        #[arg(long, default_value_t = DemoConfig::default().load_slowdown)]
        load_slowdown: f64,
        /// Requests that run at a time; the rest wait.
        #[arg(long, default_value_t = DemoConfig::default().batch_limit)]
        batch_limit: u32,
        /// Share of each answer that is reasoning.
        #[arg(long, default_value_t = DemoConfig::default().reasoning_share)]
        reasoning_share: f64,
    }

    #[derive(Clone)]
    struct FaultList(Vec<FaultShare>);

    impl FaultList {
        fn read(text: &str) -> Result<Self, String> {
            FaultShare::parse_list(text).map(Self)
        }
    }

    pub fn main() -> ExitCode {
        let arguments = Arguments::parse();
        if arguments.check {
            return ExitCode::SUCCESS;
        }
        let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return failed(&format!("The system gives no threads: {error}")),
        };
        let served = runtime.block_on(serve(arguments));
        // Open streams are not waited for.
        runtime.shutdown_background();
        match served {
            Ok(()) => ExitCode::SUCCESS,
            Err(message) => failed(&message),
        }
    }

    fn failed(message: &str) -> ExitCode {
        eprintln!("{message}");
        ExitCode::FAILURE
    }

    async fn serve(arguments: Arguments) -> Result<(), String> {
        let options = host::Options {
            config: DemoConfig {
                ttft_ms: arguments.ttft_ms,
                prefill_ms_per_1k: arguments.prefill_ms,
                itl_ms: arguments.itl_ms,
                jitter: arguments.jitter,
                load_slowdown: arguments.load_slowdown,
                batch_limit: arguments.batch_limit,
                reasoning_share: arguments.reasoning_share.clamp(0.0, 1.0),
                faults: arguments.faults.0,
            },
            seed: arguments.seed,
            model: arguments.model,
            api_key: arguments.api_key,
            cors: arguments.cors == "on",
            refuse: arguments.refuse,
        };
        let endpoint = listen(arguments.port, "--port").await?;
        let page = match &arguments.page {
            Some(folder) if !folder.join("index.html").exists() => {
                return Err(format!(
                    "{} holds no page: build it with trunk build --release.",
                    folder.display()
                ));
            }
            Some(folder) => Some((listen(arguments.page_port, "--page-port").await?, folder)),
            None => None,
        };
        println!("Demo endpoint: http://localhost:{}", port_of(&endpoint));
        start(endpoint, &host::router(options));
        if let Some((listeners, folder)) = page {
            println!("Page:          http://localhost:{}", port_of(&listeners));
            start(listeners, &site::router(folder));
        }
        until_told_to_end()
            .await
            .map_err(|error| format!("The system gives no signals: {error}"))
    }

    async fn until_told_to_end() -> io::Result<()> {
        #[cfg(unix)]
        {
            let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
            tokio::select! {
                _ = terminate.recv() => Ok(()),
                interrupted = tokio::signal::ctrl_c() => interrupted,
            }
        }
        #[cfg(not(unix))]
        tokio::signal::ctrl_c().await
    }

    /// Listens on this machine alone: by IPv4, and by IPv6 where there is any, since `localhost` may mean either.
    async fn listen(port: u16, option: &str) -> Result<Vec<TcpListener>, String> {
        let taken = |error: io::Error, port: u16| match error.kind() {
            io::ErrorKind::AddrInUse => {
                format!("Port {port} is taken. Choose another with {option}, or end what uses it.")
            }
            _ => format!("Port {port} cannot be used: {error}. Choose another with {option}."),
        };
        let bind = |ip: IpAddr, port: u16| TcpListener::bind(SocketAddr::new(ip, port));
        let first = bind(Ipv4Addr::LOCALHOST.into(), port)
            .await
            .map_err(|error| taken(error, port))?;
        let port = first.local_addr().map_err(|error| taken(error, port))?.port();
        let mut listeners = vec![first];
        match bind(Ipv6Addr::LOCALHOST.into(), port).await {
            Ok(second) => listeners.push(second),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(taken(error, port)),
            Err(_) => {}
        }
        Ok(listeners)
    }

    fn port_of(listeners: &[TcpListener]) -> u16 {
        listeners
            .first()
            .and_then(|listener| listener.local_addr().ok())
            .map_or(0, |address| address.port())
    }

    fn start(listeners: Vec<TcpListener>, router: &Router) {
        for listener in listeners {
            // Small frames must leave at once.
            let listener = listener.tap_io(|socket| _ = socket.set_nodelay(true));
            tokio::spawn(axum::serve(listener, router.clone()).into_future());
        }
    }
}

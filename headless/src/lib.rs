//! A headless Chromium that opens a page from a file, for tests and for pictures; no part of what users run.
//!
//! It is spoken to by the DevTools protocol over a pair of pipes (`--remote-debugging-pipe`: messages of JSON, each ended by a zero byte on descriptors 3 and 4), which
//! needs no port and no library. Source: <https://chromedevtools.github.io/devtools-protocol/>.
#![forbid(unsafe_code)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Why a page could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// There is no Chromium.
    #[error("there is no chromium; install it, on Debian: apt-get install chromium")]
    NotThere,
    /// It cannot be spoken to.
    #[error("chromium cannot be spoken to: {0}")]
    Io(#[from] std::io::Error),
    /// It ended, or said something that is no message.
    #[error("chromium ended, or said what is no message: {0}")]
    Broken(String),
    /// It refused what it was told to do.
    #[error("chromium refuses {method}: {message}")]
    Refused {
        /// What it was told.
        method: String,
        /// Why not.
        message: String,
    },
    /// A script of the caller's failed.
    #[error("the script failed: {0}")]
    Script(String),
}

/// How a page is looked at.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Of the window, in pixels.
    pub width: u32,
    /// Of the window, in pixels.
    pub height: u32,
    /// Whether the reader prefers a dark scheme.
    pub is_dark: bool,
}

impl View {
    /// A usual window.
    pub const DESKTOP: Self = Self {
        width: 1280,
        height: 900,
        is_dark: false,
    };
    /// A telephone.
    pub const PHONE: Self = Self {
        width: 390,
        height: 844,
        is_dark: false,
    };
}

/// A browser with one page.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    /// Of the page, once there is one.
    session: Option<String>,
    /// Of the last message.
    number: u64,
    /// What scripts threw and what the page complained of, since it was opened.
    errors: Vec<String>,
    has_loaded: bool,
    /// Its profile, which is removed with it.
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts it without a window.
    ///
    /// # Errors
    /// [`BrowserError::NotThere`], or that it ends at once.
    pub fn start() -> Result<Self, BrowserError> {
        let profile = tempfile::tempdir()?;
        // The shell puts the pipes where Chromium looks for them.
        let mut child = Command::new("sh")
            .arg("-c")
            .arg("command -v chromium >/dev/null || exit 127; exec chromium \"$@\" 3<&0 4>&1 >/dev/null 2>&1")
            .arg("chromium")
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"])
            .args(["--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let broken = || BrowserError::Broken("no pipes".to_owned());
        let to = child.stdin.take().ok_or_else(broken)?;
        let from = BufReader::new(child.stdout.take().ok_or_else(broken)?);
        let mut browser = Self {
            child,
            to,
            from,
            session: None,
            number: 0,
            errors: Vec::new(),
            has_loaded: false,
            _profile: profile,
        };
        browser.attach().map_err(|error| match error {
            BrowserError::Broken(_) | BrowserError::Io(_) if browser.is_not_there() => {
                BrowserError::NotThere
            }
            other => other,
        })?;
        Ok(browser)
    }

    fn is_not_there(&mut self) -> bool {
        let status = self.child.wait();
        status.is_ok_and(|status| status.code() == Some(127))
    }

    /// A page of its own, whose complaints are heard.
    fn attach(&mut self) -> Result<(), BrowserError> {
        let target = self.call("Target.createTarget", json!({ "url": "about:blank" }))?;
        let attached = self.call(
            "Target.attachToTarget",
            json!({ "targetId": target["targetId"], "flatten": true }),
        )?;
        self.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            self.call(domain, json!({}))?;
        }
        Ok(())
    }

    /// Opens a file, and waits until it has loaded.
    ///
    /// # Errors
    /// As [`BrowserError`] says.
    pub fn open(&mut self, page: &Path, view: View) -> Result<(), BrowserError> {
        self.look(view)?;
        self.errors.clear();
        self.has_loaded = false;
        let page = page.canonicalize()?;
        let url = format!("file://{}", page.display());
        self.call("Page.navigate", json!({ "url": url }))?;
        while !self.has_loaded {
            let message = self.hear()?;
            self.note(&message);
        }
        Ok(())
    }

    /// Looks at the page that is open in another way.
    ///
    /// # Errors
    /// As [`BrowserError`] says.
    pub fn look(&mut self, view: View) -> Result<(), BrowserError> {
        let metrics = json!({ "width": view.width, "height": view.height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", metrics)?;
        let scheme = if view.is_dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        )?;
        Ok(())
    }

    /// What a script comes to; of a promise what it is resolved to.
    ///
    /// # Errors
    /// [`BrowserError::Script`] where it throws.
    pub fn evaluate(&mut self, script: &str) -> Result<Value, BrowserError> {
        let asked = json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", asked)?;
        match answer.get("exceptionDetails") {
            Some(details) => Err(BrowserError::Script(described(details))),
            None => Ok(answer["result"]["value"].clone()),
        }
    }

    /// Whether a script becomes true within five seconds.
    ///
    /// # Errors
    /// [`BrowserError::Script`] where it throws.
    pub fn comes_true(&mut self, script: &str) -> Result<bool, BrowserError> {
        let waiting = "(async () => {
            for (let i = 0; i < 500; i++) {
                if (IS_TRUE) return true;
                await new Promise((done) => setTimeout(done, 10));
            }
            return false;
        })()";
        let came = self.evaluate(&waiting.replace("IS_TRUE", script))?;
        Ok(came == json!(true))
    }

    /// Moves the pointer, in pixels of the window.
    ///
    /// # Errors
    /// As [`BrowserError`] says.
    pub fn point(&mut self, x: f64, y: f64) -> Result<(), BrowserError> {
        self.mouse("mouseMoved", x, y, 0)
    }

    /// Moves the pointer there and clicks.
    ///
    /// # Errors
    /// As [`BrowserError`] says.
    pub fn click(&mut self, x: f64, y: f64) -> Result<(), BrowserError> {
        self.point(x, y)?;
        self.mouse("mousePressed", x, y, 1)?;
        self.mouse("mouseReleased", x, y, 1)
    }

    fn mouse(&mut self, kind: &str, x: f64, y: f64, clicks: u32) -> Result<(), BrowserError> {
        let button = if clicks > 0 { "left" } else { "none" };
        let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": clicks });
        self.call("Input.dispatchMouseEvent", event)?;
        Ok(())
    }

    /// The whole page as a PNG.
    ///
    /// # Errors
    /// As [`BrowserError`] says.
    pub fn screenshot(&mut self) -> Result<Vec<u8>, BrowserError> {
        let asked = json!({ "format": "png", "captureBeyondViewport": true });
        let answer = self.call("Page.captureScreenshot", asked)?;
        decoded(&answer)
    }

    /// The page as it is printed.
    ///
    /// # Errors
    /// As [`BrowserError`] says.
    pub fn pdf(&mut self) -> Result<Vec<u8>, BrowserError> {
        let answer = self.call("Page.printToPDF", json!({ "printBackground": true }))?;
        decoded(&answer)
    }

    /// What scripts threw, and what the page complained of, since it was opened.
    #[must_use]
    pub fn errors(&self) -> &[String] {
        &self.errors
    }

    fn call(&mut self, method: &str, parameters: Value) -> Result<Value, BrowserError> {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes)?;
        self.to.flush()?;
        loop {
            let answer = self.hear()?;
            if answer["id"] != json!(self.number) {
                self.note(&answer);
                continue;
            }
            return match answer.get("error") {
                Some(error) => Err(BrowserError::Refused {
                    method: method.to_owned(),
                    message: error["message"].as_str().unwrap_or_default().to_owned(),
                }),
                None => Ok(answer["result"].clone()),
            };
        }
    }

    fn hear(&mut self) -> Result<Value, BrowserError> {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes)?;
        bytes.pop();
        let broken = |error: serde_json::Error| BrowserError::Broken(error.to_string());
        serde_json::from_slice(&bytes).map_err(broken)
    }

    /// Something that it says unasked.
    fn note(&mut self, message: &Value) {
        let said = &message["params"];
        match message["method"].as_str() {
            Some("Page.loadEventFired") => self.has_loaded = true,
            Some("Runtime.exceptionThrown") => {
                self.errors.push(described(&said["exceptionDetails"]));
            }
            Some("Log.entryAdded") if said["entry"]["level"] == "error" => {
                let text = said["entry"]["text"].as_str().unwrap_or_default();
                self.errors.push(text.to_owned());
            }
            Some("Runtime.consoleAPICalled") if said["type"] == "error" => {
                self.errors.push(said["args"].to_string());
            }
            _ => {}
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // All its processes end when the pipe does; the shell's child is Chromium itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn described(details: &Value) -> String {
    let thrown = details["exception"]["description"].as_str();
    let text = thrown.or_else(|| details["text"].as_str());
    text.unwrap_or_default().to_owned()
}

fn decoded(answer: &Value) -> Result<Vec<u8>, BrowserError> {
    let text = answer["data"].as_str().unwrap_or_default();
    let broken = |error: base64::DecodeError| BrowserError::Broken(error.to_string());
    STANDARD.decode(text).map_err(broken)
}

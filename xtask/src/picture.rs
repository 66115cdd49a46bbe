//! `cargo xtask picture`: a chart of a run as a picture, or its whole page, as a browser shows them. What stands in the README and in the guide is made so.

use std::error::Error;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use headless::{Browser, View};
use throng_record::schema;
use throng_report::{Format, Options};

#[derive(Debug, Args)]
pub(crate) struct PictureArguments {
    /// A run.json, or a page that throng wrote
    run: PathBuf,
    /// Where it goes: .svg or .png for a chart, .png for the page
    output: PathBuf,
    /// The chart, by the name in its address (#chart-NAME); without it the whole page is shown
    #[arg(long)]
    chart: Option<String>,
    /// Which of its views, from 0
    #[arg(long, default_value_t = 0)]
    view: usize,
    /// Of the picture, in pixels
    #[arg(long, default_value_t = 900)]
    width: u32,
    /// Of a chart, in pixels; without it as high as the page has it
    #[arg(long)]
    height: Option<u32>,
    /// As a reader sees it who prefers a dark scheme
    #[arg(long)]
    dark: bool,
}

pub(crate) fn run(arguments: &PictureArguments) -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("throng-picture-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let result = page(&arguments.run, &folder).and_then(|page| taken(arguments, &page));
    std::fs::remove_dir_all(&folder)?;
    std::fs::write(&arguments.output, result?)?;
    println!("{}", arguments.output.display());
    Ok(())
}

/// The page itself, or one made of a record.
fn page(run: &Path, folder: &Path) -> Result<PathBuf, Box<dyn Error>> {
    if run.extension().is_some_and(|extension| extension == "html") {
        return Ok(run.to_owned());
    }
    let record = schema::read(&std::fs::read_to_string(run)?)?;
    let page = folder.join("report.html");
    let text = throng_report::render(&record, Format::Html, &Options::default());
    std::fs::write(&page, text)?;
    Ok(page)
}

fn taken(arguments: &PictureArguments, page: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut browser = Browser::start()?;
    let view = View {
        width: arguments.width,
        height: 900,
        is_dark: arguments.dark,
    };
    browser.open(page, view)?;
    let Some(chart) = &arguments.chart else {
        // Each chart is drawn when it is come to.
        browser.evaluate(
            "(async () => { for (const place of document.querySelectorAll('.plot')) { place.scrollIntoView(); for (let i = 0; i < 500 && !place.data; i++) await new Promise((done) => setTimeout(done, 10)); } scrollTo(0, 0); await new Promise((done) => setTimeout(done, 300)); })()",
        )?;
        return Ok(browser.screenshot()?);
    };
    let is_svg = arguments.output.extension().is_some_and(|one| one == "svg");
    let format = if is_svg { "svg" } else { "png" };
    let height = arguments
        .height
        .map_or_else(|| "layout.height".to_owned(), |height| height.to_string());
    let script = format!(
        "(async () => {{
            const place = [...document.querySelectorAll('.plot')].find((one) => one.dataset.chart === {chart:?});
            if (!place) throw new Error('there is no chart of this name: ' + [...document.querySelectorAll('.plot')].map((one) => one.dataset.chart).join(', '));
            const select = place.closest('figure').querySelector('select');
            if (select) {{ select.value = {view}; }}
            place.scrollIntoView();
            for (let i = 0; i < 500 && !place.data; i++) await new Promise((done) => setTimeout(done, 10));
            if (select) select.dispatchEvent(new Event('change'));
            const layout = place.layout;
            const light = getComputedStyle(document.body).backgroundColor;
            return Plotly.toImage({{ data: place.data, layout: {{ ...layout, paper_bgcolor: light }} }}, {{ format: '{format}', width: {width}, height: {height} }});
        }})()",
        view = arguments.view,
        width = arguments.width,
    );
    let url = browser.evaluate(&script)?;
    let url = url.as_str().ok_or("no picture came")?;
    let (kind, data) = url.split_once(',').ok_or("what came is no picture")?;
    if kind.ends_with("base64") {
        return Ok(STANDARD.decode(data)?);
    }
    let text = browser.evaluate(&format!("decodeURIComponent({data:?})"))?;
    Ok(text.as_str().unwrap_or_default().as_bytes().to_vec())
}

//! Scans and pictures through the real OCR program, in real children.

use std::collections::HashSet;
use std::time::Duration;

use parser::Settings;
use parser::extract::{Drawing, ExtractedPage, Extraction, Picture};
use parser::ocr::{Installed, OcrPlan, OcrReader, Tesseract};
use parser::pool::{Launcher, Plan};
use pdf_writer::{Content, Finish as _, Name, Pdf, Rect, Ref, Str};
use shared::contract::{Locator, ReadMethod};
use shared::format::Format;

use crate::support::{Page, corpus, extract, pdf, plan, pool, second_reader};

fn launcher() -> Launcher {
    Launcher {
        program: env!("CARGO_BIN_EXE_ibid-parser").into(),
        arguments: vec!["extract-child".to_owned()],
    }
}

/// A plan with the OCR of this machine, as the settings make it; `None`, with a word, where there
/// is none.
fn ocr_plan() -> Option<Plan> {
    let (ocr, notes) = Settings::default().ocr_plan(&launcher());
    if let OcrReader::Absent(_) = ocr.reader {
        println!("skipped: tesseract is not installed: {notes:?}");
        return None;
    }
    Some(Plan { ocr, ..plan() })
}

/// Lower-case words of four letters and more.
fn words(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= 4)
        .map(str::to_lowercase)
        .collect()
}

fn notes(page: &ExtractedPage) -> String {
    let record = &page.record;
    let error = record.error.clone().into_iter();
    record
        .doubts
        .iter()
        .cloned()
        .chain(error)
        .collect::<Vec<_>>()
        .join("; ")
}

const LINES: [(f32, &str); 5] = [
    (24.0, "Quarterly inspection report"),
    (14.0, "The elevator in building seven passed every test."),
    (14.0, "Its emergency brake holds twelve hundred kilograms."),
    (14.0, "Next inspection: September 2031, invoice 48213."),
    (14.0, "Signed by the technical supervisor."),
];
const SPOKEN: [&str; 12] = [
    "quarterly",
    "inspection",
    "report",
    "elevator",
    "building",
    "emergency",
    "brake",
    "kilograms",
    "september",
    "2031",
    "48213",
    "supervisor",
];

/// A typed page as a scanner sees it.
fn scanned() -> Option<Picture> {
    let typed = pdf(
        "t",
        0,
        &[Page {
            lines: LINES.to_vec(),
            picture: false,
        }],
    );
    Drawing::open(&second_reader(), &typed, None)?.draw(1, 200)
}

/// A page of A4 with `picture` on it, hidden `layer` lines, and visible `text`.
struct Sheet<'a> {
    picture: &'a Picture,
    turn: i32,
    layer: &'a [&'a str],
    text: &'a [&'a str],
}

impl<'a> Sheet<'a> {
    fn scan(picture: &'a Picture) -> Self {
        Self {
            picture,
            turn: 0,
            layer: &[],
            text: &[],
        }
    }

    fn pdf(&self) -> Vec<u8> {
        let [catalog, tree, page, image, content, font] = [1, 2, 3, 4, 5, 6].map(Ref::new);
        let mut pdf = Pdf::new();
        pdf.catalog(catalog).pages(tree);
        pdf.pages(tree).kids([page]).count(1);
        pdf.type1_font(font).base_font(Name(b"Helvetica"));
        let mut writer = pdf.page(page);
        writer
            .media_box(Rect::new(0.0, 0.0, 595.0, 842.0))
            .rotate(self.turn)
            .parent(tree)
            .contents(content);
        let mut resources = writer.resources();
        resources.fonts().pair(Name(b"F"), font);
        resources.x_objects().pair(Name(b"P"), image);
        resources.finish();
        writer.finish();
        let mut object = pdf.image_xobject(image, &self.picture.pixels);
        object
            .width(i32::try_from(self.picture.width).unwrap())
            .height(i32::try_from(self.picture.height).unwrap())
            .bits_per_component(8)
            .color_space()
            .device_gray();
        object.finish();
        pdf.stream(content, &self.content());
        pdf.finish()
    }

    fn content(&self) -> Vec<u8> {
        let mut content = Content::new();
        content.save_state();
        // A scan that lies on its side shows upright on a page that is turned.
        content.transform(match self.turn {
            90 => [0.0, 842.0, -595.0, 0.0, 595.0, 0.0],
            _ => [595.0, 0.0, 0.0, 842.0, 0.0, 0.0],
        });
        content.x_object(Name(b"P"));
        content.restore_state();
        for (lines, mode) in [
            (self.layer, pdf_writer::types::TextRenderingMode::Invisible),
            (self.text, pdf_writer::types::TextRenderingMode::Fill),
        ] {
            for (line, y) in lines
                .iter()
                .zip((0..30_u8).map(|n| 780.0 - 20.0 * f32::from(n)))
            {
                content.begin_text();
                content.set_font(Name(b"F"), 12.0);
                content.set_text_rendering_mode(mode);
                content.next_line(72.0, y);
                content.show(Str(line.as_bytes()));
                content.end_text();
            }
        }
        content.finish().to_vec()
    }
}

async fn read_pdf(plan: &Plan, bytes: &[u8]) -> Extraction {
    let pool = pool(plan.clone());
    extract(&pool, Format::Pdf, "scan.pdf", bytes)
        .await
        .unwrap()
}

#[track_caller]
fn check_spoken(page: &ExtractedPage) {
    assert_eq!(page.record.method, ReadMethod::Ocr, "{}", notes(page));
    let said = words(&page.markdown);
    let lost: Vec<_> = SPOKEN
        .iter()
        .filter(|word| !said.contains(**word))
        .collect();
    assert!(lost.is_empty(), "{lost:?} of {}", page.markdown);
}

#[tokio::test]
async fn scans_of_the_corpus_say_what_they_show() {
    let (Some(folder), Some(plan)) = (corpus("docs"), ocr_plan()) else {
        return;
    };
    for (file, pages, spoken) in SCANS {
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let started = std::time::Instant::now();
        let extraction = read_pdf(&plan, &bytes).await;
        println!(
            "{file}: {} pages in {:.1} s",
            extraction.pages.len(),
            started.elapsed().as_secs_f32()
        );
        assert_eq!(extraction.pages.len(), pages, "{file}");
        let all = extraction.pages.iter().map(|page| page.markdown.as_str());
        let said = words(&all.collect::<Vec<_>>().join("\n"));
        let lost: Vec<_> = spoken
            .iter()
            .filter(|word| !said.contains(**word))
            .collect();
        assert!(lost.is_empty(), "{file}: {lost:?}");
        for page in &extraction.pages {
            assert_eq!(
                page.record.method,
                ReadMethod::Ocr,
                "{file}: {}",
                notes(page)
            );
            assert!(matches!(page.record.locator, Locator::PdfPage { .. }));
        }
    }
}

/// File, its pages, and words that stand on them.
const SCANS: [(&str, usize, &[&str]); 3] = [
    (
        "loremipsum-flat.pdf",
        1,
        &[
            "lorem",
            "ipsum",
            "dolor",
            "amet",
            "sollicitudin",
            "pellentesque",
            "vestibulum",
            "phasellus",
            "efficitur",
        ],
    ),
    (
        "medical-report-scan.pdf",
        3,
        &[
            "seattle",
            "hospital",
            "comprehensive",
            "harrison",
            "lisinopril",
            "cardiovascular",
            "hypertension",
            "oxygen",
            "metformin",
        ],
    ),
    (
        "table-multi-row-column-cells.pdf",
        1,
        &[
            "participants",
            "ballots",
            "accuracy",
            "blind",
            "dexterity",
            "mobility",
            "1199",
            "1934",
            "1672",
        ],
    ),
];

#[tokio::test]
async fn a_scan_is_read_and_a_turned_one_too() {
    let (Some(picture), Some(plan)) = (scanned(), ocr_plan()) else {
        return;
    };
    for turn in [0, 90] {
        let bytes = Sheet {
            turn,
            ..Sheet::scan(&picture)
        }
        .pdf();
        let extraction = read_pdf(&plan, &bytes).await;
        check_spoken(&extraction.pages[0]);
    }
    // The scanner's own mistake: nothing in the file says that the page lies upside down.
    let mut upside_down = picture.clone();
    upside_down.pixels.reverse();
    let extraction = read_pdf(&plan, &Sheet::scan(&upside_down).pdf()).await;
    check_spoken(&extraction.pages[0]);
}

#[tokio::test]
async fn a_hidden_layer_is_kept_when_it_agrees_and_replaced_when_not() {
    let (Some(picture), Some(plan)) = (scanned(), ocr_plan()) else {
        return;
    };
    let right = LINES.map(|(_, line)| line);
    let sheet = Sheet {
        layer: &right,
        ..Sheet::scan(&picture)
    };
    let page = read_pdf(&plan, &sheet.pdf()).await.pages.remove(0);
    assert_ne!(page.record.method, ReadMethod::Ocr, "{}", notes(&page));
    assert!(notes(&page).contains("OCR agrees with"), "{}", notes(&page));
    let wrong = [
        "Another document altogether stands hidden behind this picture",
        "nobody would ever see these sentences on their own screen",
    ];
    let sheet = Sheet {
        layer: &wrong,
        ..Sheet::scan(&picture)
    };
    let page = read_pdf(&plan, &sheet.pdf()).await.pages.remove(0);
    check_spoken(&page);
    assert!(notes(&page).contains("replaced by OCR"), "{}", notes(&page));
}

#[tokio::test]
async fn a_picture_beside_a_caption_is_read_as_well() {
    let (Some(picture), Some(plan)) = (scanned(), ocr_plan()) else {
        return;
    };
    let caption = ["Appendix C, scanned"];
    let sheet = Sheet {
        text: &caption,
        ..Sheet::scan(&picture)
    };
    let page = read_pdf(&plan, &sheet.pdf()).await.pages.remove(0);
    assert!(page.markdown.contains("Appendix C"), "{}", page.markdown);
    assert!(
        page.markdown.contains("twelve hundred kilograms"),
        "{}",
        page.markdown
    );
}

#[tokio::test]
async fn without_ocr_a_scan_is_missing_and_says_why() {
    let Some(picture) = scanned() else { return };
    let blank = Picture {
        width: 100,
        height: 100,
        dpi: 72,
        pixels: vec![255; 10_000],
    };
    let mut absent = plan();
    absent.ocr = OcrPlan::absent("install tesseract to read it");
    let page = read_pdf(&absent, &Sheet::scan(&picture).pdf())
        .await
        .pages
        .remove(0);
    assert_eq!(page.record.method, ReadMethod::Missing);
    let says = notes(&page);
    assert!(
        says.contains("needs OCR") && says.contains("install tesseract"),
        "{says}"
    );
    if let Some(plan) = ocr_plan() {
        let page = read_pdf(&plan, &Sheet::scan(&blank).pdf())
            .await
            .pages
            .remove(0);
        assert_eq!(page.record.method, ReadMethod::Ocr, "{}", notes(&page));
        assert_eq!(
            (page.markdown.as_str(), notes(&page).as_str()),
            ("", "the page is blank")
        );
    }
}

/// An OCR program of a few lines of shell.
fn program(folder: &tempfile::TempDir, script: &str, per_page: Duration) -> OcrPlan {
    use std::os::unix::fs::PermissionsExt as _;
    let program = folder.path().join("tesseract");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    let installed = Installed {
        program,
        data: None,
        languages: vec!["eng".to_owned()],
        sees_orientation: true,
    };
    OcrPlan {
        reader: OcrReader::Tesseract(Tesseract::new(
            launcher(),
            installed,
            &["eng".to_owned()],
            per_page,
        )),
        dpi: 100,
        per_document: Duration::from_mins(5),
    }
}

#[tokio::test]
async fn a_program_that_fails_or_hangs_costs_its_page_only() {
    let Some(picture) = scanned() else { return };
    let folder = tempfile::tempdir().unwrap();
    let secs = Duration::from_secs;
    for (script, says) in [
        ("exit 1", "failed on it"),
        ("exec sleep 600", "OCR took longer than 1 s"),
        ("kill -SEGV $$", "failed on it"),
        ("exec yes", "failed on it"),
    ] {
        let mut plan = plan();
        // Longer than the document's own time: that stands still meanwhile.
        plan.limits.wall_clock = secs(8);
        plan.ocr = program(&folder, script, secs(1));
        let extraction = read_pdf(&plan, &Sheet::scan(&picture).pdf()).await;
        let page = &extraction.pages[0];
        assert_eq!(page.record.method, ReadMethod::Missing, "{script}");
        assert!(notes(page).contains(says), "{script}: {}", notes(page));
    }
}

#[tokio::test]
async fn the_program_has_its_limits_and_nothing_of_the_environment() {
    let Some(picture) = scanned() else { return };
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
row() { printf '5\t1\t1\t1\t%s\t1\t0\t0\t9\t9\t95\t%s\n' "$1" "$2"; }
row 1 "memory-$(ulimit -v)"; row 2 "processor-$(ulimit -t)"; row 3 "core-$(ulimit -c)"
row 4 "nice-$(nice)"; row 5 "home-${HOME:-none}"; row 6 "threads-$OMP_THREAD_LIMIT"
row 7 "arguments-$(echo "$@" | tr ' ' '_')"; row 8 "picture-$(head -c 2)""#;
    let mut plan = plan();
    plan.ocr = program(&folder, script, Duration::from_secs(20));
    let extraction = read_pdf(&plan, &Sheet::scan(&picture).pdf()).await;
    let text = &extraction.pages[0].markdown;
    for expect in [
        "memory-3145728",
        "processor-21",
        "core-0",
        "nice-1",
        "home-none",
        "threads-1",
        "arguments-stdin_stdout_-l_eng_--psm_1_--dpi_100_-c_thresholding_method=1_tsv",
        "picture-P5",
    ] {
        assert!(text.contains(expect), "{expect} in {text}");
    }
}

#[tokio::test]
async fn time_for_a_document_runs_out_and_its_pages_are_missing() {
    let Some(picture) = scanned() else { return };
    let folder = tempfile::tempdir().unwrap();
    let row = "printf '5\\t1\\t1\\t1\\t1\\t1\\t0\\t0\\t9\\t9\\t95\\twords\\n'";
    let mut plan = plan();
    plan.ocr = program(&folder, row, Duration::from_secs(20));
    // A page counts for a second at least: the second page is the last.
    plan.ocr.per_document = Duration::from_millis(1500);
    let tiff = tiff(&[picture.clone(), picture.clone(), picture]);
    let extraction = extract(&pool(plan), Format::Image, "fax.tiff", &tiff)
        .await
        .unwrap();
    let methods: Vec<_> = extraction
        .pages
        .iter()
        .map(|page| page.record.method)
        .collect();
    assert_eq!(
        methods,
        [ReadMethod::Ocr, ReadMethod::Ocr, ReadMethod::Missing]
    );
    let says = notes(&extraction.pages[2]);
    assert_eq!(says, "needs OCR: the time for it ran out");
}

fn tiff(pages: &[Picture]) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut encoder = tiff::encoder::TiffEncoder::new(&mut bytes).unwrap();
    for page in pages {
        encoder
            .write_image::<tiff::encoder::colortype::Gray8>(page.width, page.height, &page.pixels)
            .unwrap();
    }
    bytes.into_inner()
}

fn encoded(picture: &Picture, format: image::ImageFormat) -> Vec<u8> {
    let image = image::GrayImage::from_raw(picture.width, picture.height, picture.pixels.clone());
    let mut bytes = std::io::Cursor::new(Vec::new());
    image.unwrap().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

#[tokio::test]
async fn pictures_are_documents() {
    let (Some(picture), Some(plan)) = (scanned(), ocr_plan()) else {
        return;
    };
    let pool = pool(plan);
    let small = Drawing::open(
        &second_reader(),
        &pdf(
            "t",
            0,
            &[Page {
                lines: LINES.to_vec(),
                picture: false,
            }],
        ),
        None,
    )
    .and_then(|drawing| drawing.draw(1, 80))
    .unwrap();
    for (name, bytes, pages) in [
        ("a.png", encoded(&picture, image::ImageFormat::Png), 1),
        ("a.jpg", encoded(&picture, image::ImageFormat::Jpeg), 1),
        ("screen.png", encoded(&small, image::ImageFormat::Png), 1),
        ("fax.tiff", tiff(&[picture.clone(), picture.clone()]), 2),
    ] {
        let extraction = extract(&pool, Format::Image, name, &bytes).await.unwrap();
        assert_eq!(extraction.pages.len(), pages, "{name}");
        for (page, number) in extraction.pages.iter().zip(1..) {
            assert_eq!(page.record.locator, Locator::Block { number }, "{name}");
            check_spoken(page);
        }
    }
}

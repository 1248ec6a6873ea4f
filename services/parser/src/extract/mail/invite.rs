//! Meetings within messages: iCalendar, RFC 5545.

use super::page::one_line;

/// More of one calendar are not read.
const MOST_EVENTS: usize = 100;

#[derive(Debug, Default)]
struct Event {
    summary: String,
    start: String,
    end: String,
    place: String,
    organizer: String,
    attendees: Vec<String>,
    description: String,
}

/// The meetings of `calendar`, each as Markdown.
pub(super) fn read(calendar: &str) -> Vec<String> {
    let (mut events, mut cancelled) = (Vec::new(), false);
    let mut event: Option<Event> = None;
    let mut alarm = false;
    for line in unfolded(calendar) {
        let Some((name, parameters, value)) = property(&line) else {
            continue;
        };
        match (name.as_str(), &mut event) {
            ("METHOD", None) => cancelled = value.eq_ignore_ascii_case("cancel"),
            ("BEGIN", None) if is_event(value) => event = Some(Event::default()),
            ("BEGIN", Some(_)) => alarm = true,
            ("END", Some(_)) if is_event(value) => events.extend(event.take()),
            ("END", Some(_)) => alarm = false,
            (name, Some(event)) if !alarm => event.set(name, parameters, value),
            _ => {}
        }
        if events.len() >= MOST_EVENTS {
            break;
        }
    }
    events
        .iter()
        .map(|event| event.written(cancelled))
        .collect()
}

/// A meeting of which only the time is known.
pub(in crate::extract) fn calendar_lines(summary: &str, start: &str, end: Option<&str>) -> String {
    let event = Event {
        summary: summary.to_owned(),
        start: start.to_owned(),
        end: end.unwrap_or_default().to_owned(),
        ..Event::default()
    };
    event.written(false)
}

fn is_event(value: &str) -> bool {
    value.eq_ignore_ascii_case("vevent") || value.eq_ignore_ascii_case("vtodo")
}

impl Event {
    fn set(&mut self, name: &str, parameters: &str, value: &str) {
        match name {
            "SUMMARY" => self.summary = one_line(&plain(value)),
            "DTSTART" => self.start = moment(parameters, value),
            "DTEND" | "DUE" => self.end = moment(parameters, value),
            "LOCATION" => self.place = one_line(&plain(value)),
            "ORGANIZER" => self.organizer = person(parameters, value),
            "ATTENDEE" => self.attendees.push(person(parameters, value)),
            "DESCRIPTION" => self.description = plain(value),
            _ => {}
        }
    }

    fn written(&self, cancelled: bool) -> String {
        let word = if cancelled { "Cancelled" } else { "Invitation" };
        let mut out = format!("{word}: {}\n\n", self.summary);
        let when = match (self.start.as_str(), self.end.as_str()) {
            (start, "") => start.to_owned(),
            (start, end) => format!("{start} to {end}"),
        };
        for (label, value) in [
            ("When", &when),
            ("Where", &self.place),
            ("Organizer", &self.organizer),
            ("Attendees", &self.attendees.join(", ")),
        ] {
            if !value.is_empty() {
                out.push_str(&["- ", label, ": ", value, "\n"].concat());
            }
        }
        let description = self.description.trim();
        if !description.is_empty() {
            out.push_str(&["\n", description, "\n"].concat());
        }
        out
    }
}

/// The lines of `calendar`: one that begins with white space goes on with the one before.
fn unfolded(calendar: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in calendar.lines() {
        match (line.strip_prefix([' ', '\t']), lines.last_mut()) {
            (Some(rest), Some(last)) => last.push_str(rest),
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

/// `NAME;PARAMETERS:VALUE`; a colon within quotes does not end the parameters.
fn property(line: &str) -> Option<(String, &str, &str)> {
    let mut quoted = false;
    let end = line.find(|c| {
        quoted ^= c == '"';
        c == ':' && !quoted
    })?;
    let (before, value) = line.split_at_checked(end)?;
    let (name, parameters) = before.split_once(';').unwrap_or((before, ""));
    Some((
        name.trim().to_uppercase(),
        parameters,
        value.strip_prefix(':')?,
    ))
}

fn parameter<'p>(parameters: &'p str, name: &str) -> Option<&'p str> {
    let mut all = parameters.split(';').filter_map(|one| one.split_once('='));
    let found = all.find(|(key, _)| key.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.trim_matches('"'))
}

/// `20240229T081500Z` as `2024-02-29 08:15 UTC`; what is not understood stays.
fn moment(parameters: &str, value: &str) -> String {
    let (day, time) = value.split_once('T').unwrap_or((value, ""));
    let digits = |text: &str, from, to| text.get(from..to).map(str::to_owned);
    let day = match (digits(day, 0, 4), digits(day, 4, 6), digits(day, 6, 8)) {
        (Some(year), Some(month), Some(day)) => format!("{year}-{month}-{day}"),
        _ => return one_line(value),
    };
    let time = match (digits(time, 0, 2), digits(time, 2, 4)) {
        (Some(hour), Some(minute)) => format!(" {hour}:{minute}"),
        _ => return day,
    };
    let zone = match parameter(parameters, "TZID") {
        Some(zone) => format!(" {zone}"),
        None if value.ends_with('Z') => " UTC".to_owned(),
        None => String::new(),
    };
    one_line(&(day + &time + &zone))
}

fn person(parameters: &str, value: &str) -> String {
    let address = value
        .get(..7)
        .filter(|scheme| scheme.eq_ignore_ascii_case("mailto:"))
        .and_then(|_| value.get(7..));
    super::address(parameter(parameters, "CN"), address).unwrap_or_default()
}

/// `value` without its escapes.
fn plain(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n' | 'N') => out.push('\n'),
                Some(other) => out.push(other),
                None => {}
            },
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meeting_says_what_when_and_where() {
        let calendar = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nSUMMARY:Budget\\, 2nd\r\n  round\r\n\
            DTSTART;TZID=\"Europe/Berlin\":20240229T081500\r\nDTEND:20240229T091500Z\r\n\
            LOCATION:Room 4\r\nORGANIZER;CN=\"Ann: chair\":mailto:ann@x.example\r\n\
            ATTENDEE;CN=Bob:MAILTO:bob@x.example\r\nDESCRIPTION:One\\nTwo\r\n\
            BEGIN:VALARM\r\nDESCRIPTION:Reminder\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        assert_eq!(
            read(calendar),
            ["Invitation: Budget, 2nd round\n\n\
              - When: 2024-02-29 08:15 Europe/Berlin to 2024-02-29 09:15 UTC\n\
              - Where: Room 4\n- Organizer: Ann: chair <ann@x.example>\n\
              - Attendees: Bob <bob@x.example>\n\nOne\nTwo\n"]
        );
        assert_eq!(moment("VALUE=DATE", "20240229"), "2024-02-29");
        assert_eq!(moment("", "soon"), "soon");
        assert_eq!(read("BEGIN:VEVENT\nSUMMARY:cut"), Vec::<String>::new());
    }
}

//! The service over a real nats-server, between a caller and engines.

use std::time::Duration;

use futures::StreamExt as _;
use ibid_tests::bus::BusServer;
use std::sync::Arc;

use query::{Answerer, BusEngines, Extractive, GenerationSettings, Generators, Settings};
use shared::blobs::Blobs;
use shared::bus::{Bus, BusSettings};
use shared::contract::subject::call;
use shared::contract::{
    AnswerEvent, EmbedQuery, ErrorBody, ErrorCode, GeneratorList, GeneratorTried, Hits,
    KeywordSearch, ModelSight, QueryVector, SearchReply, Vector, VectorSearch,
};
use shared::service::{Drain, Service};

use crate::support::{hit, question};

const LIMIT: Duration = Duration::from_secs(20);

/// The query service on `server`, answering.
async fn query(server: &BusServer, drain: &Drain) -> Service {
    let blobs = Blobs::open(server.folder()).unwrap();
    let bus = server.connect(BusSettings::default()).await.unwrap();
    let service = Service::assemble("query", bus, blobs, drain.clone(), None)
        .await
        .unwrap();
    let settings = Settings {
        vector_deadline_ms: 200,
        ..Settings::default()
    };
    let engines = BusEngines::new(service.bus.clone(), settings.clone());
    let generation = GenerationSettings::default();
    let answerer = Answerer {
        engines: Box::new(engines),
        generators: Generators::of(vec![Arc::new(Extractive)], generation.clone()),
        settings,
        generation,
    };
    query::start(Arc::new(answerer), &service).await.unwrap();
    service
}

/// Answers keyword searches, and vector searches after `pause`.
async fn engines(bus: &Bus, drain: &Drain, pause: Duration) {
    let keyword = |request: KeywordSearch| async move {
        let hits = vec![hit(
            1,
            &format!("{} are paid within 14 days.", request.text),
        )];
        Ok::<_, ErrorBody>(Hits {
            hits,
            ..Hits::default()
        })
    };
    bus.respond((call::SEARCH_KEYWORD, "test"), 4, drain, keyword)
        .await
        .unwrap();
    let embed = |request: EmbedQuery| async move {
        let model = "test-fp32".parse().unwrap();
        Ok::<_, ErrorBody>(QueryVector {
            model,
            vector: Vector(vec![request.text.len() as f32]),
            sight: ModelSight::default(),
        })
    };
    bus.respond((call::EMBED_QUERY, "test"), 4, drain, embed)
        .await
        .unwrap();
    let vector = move |request: VectorSearch| async move {
        assert_eq!(
            request.vector,
            Vector(vec![7.0]),
            "the question's own vector"
        );
        tokio::time::sleep(pause).await;
        Ok::<_, ErrorBody>(Hits {
            hits: vec![hit(2, "Money goes back.")],
            ..Hits::default()
        })
    };
    bus.respond((call::SEARCH_VECTOR, "test"), 4, drain, vector)
        .await
        .unwrap();
}

#[tokio::test]
async fn questions_are_answered_over_the_bus() {
    let (server, drain) = (BusServer::start().await.unwrap(), Drain::new());
    let service = query(&server, &drain).await;
    let bus = server.connect(BusSettings::default()).await.unwrap();
    engines(&bus, &drain, Duration::ZERO).await;
    service.bus.flush().await;
    bus.flush().await;

    let asked = question("Refunds");
    let reply: SearchReply = bus.call(call::QUERY_SEARCH, &asked, LIMIT).await.unwrap();
    let found: Vec<u32> = reply
        .passages
        .iter()
        .map(|p| p.hit.chunk_id.index)
        .collect();
    assert_eq!((found.as_slice(), reply.notes.len()), (&[1, 2][..], 0));

    let events = bus
        .call_stream::<_, AnswerEvent>(call::QUERY_ASK, &asked, LIMIT)
        .await
        .unwrap();
    let events: Vec<_> = events.map(Result::unwrap).collect().await;
    assert!(
        matches!(events.first(), Some(AnswerEvent::Sources { sources, .. }) if sources.len() == 2)
    );
    assert!(
        matches!(&events[1], AnswerEvent::Token { text } if text.starts_with("> Refunds are paid"))
    );
    assert!(matches!(
        events.last(),
        Some(AnswerEvent::Done { answered: true, .. })
    ));

    let list: GeneratorList = bus.call(call::QUERY_GENERATORS, &(), LIMIT).await.unwrap();
    assert_eq!(list.generators.len(), 1);
    assert!(list.generators[0].is_default);
    let tried: GeneratorTried = bus
        .call(call::QUERY_TRY, &list.generators[0].id, LIMIT)
        .await
        .unwrap();
    assert_eq!(tried.id, list.generators[0].id);

    let refused = bus
        .call::<_, SearchReply>(call::QUERY_SEARCH, &question(""), LIMIT)
        .await;
    assert_eq!(refused.unwrap_err().code, ErrorCode::BadRequest);
}

#[tokio::test]
async fn a_slow_or_absent_engine_costs_its_results_only() {
    let (server, drain) = (BusServer::start().await.unwrap(), Drain::new());
    let service = query(&server, &drain).await;
    service.bus.flush().await;
    let bus = server.connect(BusSettings::default()).await.unwrap();
    let asked = question("Refunds");

    let alone = bus
        .call::<_, SearchReply>(call::QUERY_SEARCH, &asked, LIMIT)
        .await;
    assert_eq!(
        alone.unwrap_err().code,
        ErrorCode::Unavailable,
        "no engine at all"
    );

    engines(&bus, &drain, LIMIT).await;
    bus.flush().await;
    let reply: SearchReply = bus.call(call::QUERY_SEARCH, &asked, LIMIT).await.unwrap();
    assert_eq!(reply.passages.len(), 1);
    assert!(
        reply.notes[0].contains("did not answer within 200 ms"),
        "{:?}",
        reply.notes
    );
}

import type { JsonLimits } from "@/server/contracts/http/jsonScan";

/** All limits of the gateway. Seconds are wall seconds. */
export interface GatewayLimits {
  /** Largest request body, as sent and decompressed; a longer one is refused with 413. */
  readonly bodyBytes: number;
  /** Structure of a request body; a deeper one is refused with 400, one of more values with 413. */
  readonly bodyJson: JsonLimits;
  /** Bodies of all open requests together; a body beyond it is refused with 503. */
  readonly bodyBytesInAll: number;
  /** Largest answer of an engine that is read whole, and largest part of a stream before its first token; a longer one counts as failed. */
  readonly answerBytes: number;
  /** Requests that may wait for one model before new ones are shed with 429. */
  readonly queuedPerModel: number;
  /** Engines tried for one stage before the request moves to another stage, or fails if there is none. */
  readonly attemptsPerStage: number;
  /**
   * Time for one request over all its stages, queues and judge calls, and for a run of a workflow over all its requests; then 504. The
   * experts of an ensemble have half of it at most.
   */
  readonly requestSeconds: number;
  /** Runs of workflows that the gateway carries out at once; further ones are refused with 429. */
  readonly runs: number;
  /** Requests of ensembles in flight at once, each of several requests to models; further ones are refused with 429. */
  readonly ensembleCalls: number;
  /** Interval of silence after which a stream of such a run, or of an ensemble, sends a heartbeat. */
  readonly heartbeatSeconds: number;
  /** Time for one copy of the mirror, which occupies spare engine slots; then it has failed. */
  readonly copySeconds: number;
  /** Time for one judge call; then the answer counts as not judged. */
  readonly judgeSeconds: number;
  /** Time in which a request's predictions must come; then the policy goes on without. */
  readonly predictionSeconds: number;
  /**
   * Minimum time of a search for accurate configurations: while requests wait for engines it has as long as they wait, up to the limit
   * above.
   */
  readonly searchSeconds: number;
  /** Requests that may wait for a prediction; further ones continue without. */
  readonly predictionsWaiting: number;
  /** Judge calls at once; more wait for their turn, at most as long as one call may take. */
  readonly judgeCalls: number;
  /** Time for a request's headers, and then for its body; then 408, so that slow senders hold no connection. */
  readonly arrivalSeconds: number;
  /** Longest silence of an engine while it streams, also before its first token; then it has failed. */
  readonly streamSilenceSeconds: number;
  /**
   * Longest time without any byte from an engine that has requests; then its health is checked, and without an answer it counts as hung.
   */
  readonly quietSeconds: number;
  /**
   * Time for which requests wait for an engine that has failed and is not healthy again; then the next stage is tried, or they are answered
   * 503.
   */
  readonly recoverySeconds: number;
  /**
   * Longest time in which a client reads nothing of its answer; then it is disconnected, which frees the slot of an engine that still
   * streams the answer.
   */
  readonly clientStallSeconds: number;
  /** Time for which a connection without a request is kept open. */
  readonly idleSeconds: number;
  /** Client connections at once. */
  readonly connections: number;
  /** Of these, connections of one address; it does not hold for this machine's own, behind which a proxy's clients are. */
  readonly connectionsPerAddress: number;
  /** Time after which the answer comes to one of too many wrong keys or hostile bodies, so that its sender cannot keep the gateway busy. */
  readonly heldAnswerSeconds: number;
  /** Memory for responses that clients have stored, for those that continue them; 0: none are kept. */
  readonly storedResponseBytes: number;
  /** Time for which such a response is kept. */
  readonly storedResponseSeconds: number;
  /** Time given to requests in flight after SIGTERM; then they are answered with an error. */
  readonly drainSeconds: number;
}

export const defaultLimits: GatewayLimits = {
  // Room for a 1M-token prompt as text, or some images.
  bodyBytes: 8 * 1024 * 1024,
  // A conversation of ten thousand messages, or two million tokens as numbers.
  bodyJson: { depth: 128, nodes: 50_000, commas: 2_000_000 },
  // 2000 queued prompts of 64,000 tokens. As strings they take the same amount again if they are not ASCII.
  bodyBytesInAll: 512 * 1024 * 1024,
  // 1000 embeddings of 4096 numbers.
  answerBytes: 64 * 1024 * 1024,
  // At 100 requests/s a request at the end of the queue waits 20 s: longer queues only add timeouts.
  queuedPerModel: 2000,
  attemptsPerStage: 3,
  // vLLM's and the OpenAI client's own default is 600 s.
  requestSeconds: 600,
  // With four agents at once each, they fill half of one model's queue.
  runs: 256,
  // With three experts each, they fill half of every expert's queue.
  ensembleCalls: 1000,
  // Proxies end connections that are silent for a minute, some for half of one.
  heartbeatSeconds: 15,
  // If half of an engine's slots are free, an answer takes less.
  copySeconds: 60,
  // A judge call takes 0.27 s in the source (Cascadia); after ten seconds the judge counts as down.
  judgeSeconds: 10,
  // Many times a batch's duration; a fraction of the time to a first token.
  predictionSeconds: 0.1,
  // A search takes a few milliseconds including the messages to and from the thread; a free engine takes several times that to its first
  // token.
  searchSeconds: 0.01,
  predictionsWaiting: 1024,
  // As many as one engine batches efficiently; more would wait there instead of here.
  judgeCalls: 128,
  // At the largest body that is 270 kB/s.
  arrivalSeconds: 30,
  // A step takes less than a second; before the first token the longest prompts are read for a minute or two.
  streamSilenceSeconds: 240,
  // An engine with several requests writes many times a second; one that reads a long prompt still answers health checks. With the two
  // health checks of 2 s each a request waits 9 s for an engine that accepts connections and sends nothing.
  quietSeconds: 5,
  // A reset connection is not an outage: the first probes come within half a second.
  recoverySeconds: 2,
  clientStallSeconds: 60,
  // Longer than the idle time of common HTTP clients, so that none writes into a closing connection.
  idleSeconds: 75,
  // Every queue of five models full, and the same number of streams.
  connections: 20_000,
  // All clients of a site may share one address.
  connectionsPerAddress: 2_000,
  heldAnswerSeconds: 1,
  // Conversations stay in memory only where the operator wants it.
  storedResponseBytes: 0,
  storedResponseSeconds: 86_400,
  // The process manager kills the gateway a few seconds after SIGTERM; requests left at the end of this time are answered with an error.
  drainSeconds: 3,
};

/** Everything the gateway bounds. Seconds are wall seconds. */
export interface GatewayLimits {
  /** Largest request body; a longer one is refused with 413. */
  readonly bodyBytes: number;
  /** Bodies of all open requests together; beyond it a body is refused with 503. */
  readonly bodyBytesInAll: number;
  /** Largest answer of an engine that is read whole, and largest part of a stream before its first token; a longer one has failed. */
  readonly answerBytes: number;
  /** Requests that may wait for one model before new ones are shed with 429. */
  readonly queuedPerModel: number;
  /** Engines tried for one stage before the request goes to another, or fails where there is none. */
  readonly attemptsPerStage: number;
  /** Time for one request over all its stages, queues and judge calls, and for a run of a workflow over all its requests; then 504. Of an ensemble's, experts have half at most. */
  readonly requestSeconds: number;
  /** Runs of workflows that the gateway carries out at once; further ones are refused with 429. */
  readonly runs: number;
  /** Requests of ensembles under way at once, each of several requests to models; further ones are refused with 429. */
  readonly ensembleCalls: number;
  /** Time after which a stream of such a run, or of an ensemble, that has nothing to tell says that it is still there. */
  readonly heartbeatSeconds: number;
  /** Time for one copy of the mirror, which holds places of engines that are spare; then it has failed. */
  readonly copySeconds: number;
  /** Time for one judge call; then the answer counts as not judged. */
  readonly judgeSeconds: number;
  /** Time in which a request's predictions must come; then the policy goes on without. */
  readonly predictionSeconds: number;
  /** Time that a search for accurate configurations has at least: while requests wait for engines it has as long as they do, up to the one above. */
  readonly searchSeconds: number;
  /** Requests that may wait to be predicted; further ones go without. */
  readonly predictionsWaiting: number;
  /** Judge calls at once; more wait for their turn, at most as long as one may take. */
  readonly judgeCalls: number;
  /** Time for a request's headers, and then for its body; then 408, so that slow senders hold no connection. */
  readonly arrivalSeconds: number;
  /** Time for which an engine may say nothing while it streams, before its first token too; then it has failed. */
  readonly streamSilenceSeconds: number;
  /** Time for which nothing at all may come from an engine that has requests; then its health is asked, and without an answer it hangs. */
  readonly quietSeconds: number;
  /** Time for which requests wait for an engine that has failed and is not well again; then the next stage is asked, or they are answered 503. */
  readonly recoverySeconds: number;
  /** Time for which a client may read nothing of its answer; then it is cut off, and the place of an engine that still streams it is free. */
  readonly clientStallSeconds: number;
  /** Time for which a connection without a request is kept. */
  readonly idleSeconds: number;
  /** Connections of clients at once. */
  readonly connections: number;
  /** Time given to requests in flight after SIGTERM; then they are answered with an error. */
  readonly drainSeconds: number;
}

export const defaultLimits: GatewayLimits = {
  // Room for a 1M-token prompt as text, or some images.
  bodyBytes: 8 * 1024 * 1024,
  // 2000 queued prompts of 64,000 tokens. As strings they take as much again where they are not ASCII.
  bodyBytesInAll: 512 * 1024 * 1024,
  // 1000 embeddings of 4096 numbers.
  answerBytes: 64 * 1024 * 1024,
  // At 100 requests/s a request at the end of the queue waits 20 s: longer queues only add timeouts.
  queuedPerModel: 2000,
  attemptsPerStage: 3,
  // vLLM's and the OpenAI client's own default is 600 s.
  requestSeconds: 600,
  // Of four agents at once each they fill half of one model's queue.
  runs: 256,
  // Of three experts each they fill half of every expert's queue.
  ensembleCalls: 1000,
  // Proxies end connections that are silent for a minute, some for half of one.
  heartbeatSeconds: 15,
  // Where half of an engine's places are free an answer takes less.
  copySeconds: 60,
  // A judge call takes 0.27 s in the source (Cascadia); ten seconds is a judge that is down.
  judgeSeconds: 10,
  // Many times what a batch takes; a fraction of the time to a first token.
  predictionSeconds: 0.1,
  // A search takes a few milliseconds with the way to the thread and back, and an engine that is free several times that to its first token.
  searchSeconds: 0.01,
  predictionsWaiting: 1024,
  // As many as one engine batches well; more would wait there instead of here.
  judgeCalls: 128,
  // The largest body in that time is 270 kB/s.
  arrivalSeconds: 30,
  // A step takes less than a second; before the first token the longest prompts are read for a minute or two.
  streamSilenceSeconds: 240,
  // An engine that has several requests writes many times a second; one that reads a long prompt answers for its health meanwhile. With the two
  // questions of 2 s each a request waits 9 s for an engine that takes connections and says nothing.
  quietSeconds: 5,
  // A reset connection is not an outage: the first probes come within half a second.
  recoverySeconds: 2,
  clientStallSeconds: 60,
  // Longer than the idle time of common HTTP clients, so that none writes into a connection being closed.
  idleSeconds: 75,
  // Every queue of five models full, and as many streams again.
  connections: 20_000,
  // What starts and stops the gateway kills it a few seconds after it asked; what is left by then is answered with an error.
  drainSeconds: 3,
};

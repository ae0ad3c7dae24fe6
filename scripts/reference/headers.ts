import { deprecatedHeaders } from "@/server/contracts/deprecatedNames";
import { parentsHeader, startedAtHeader } from "@/server/contracts/gateway/gatewayWorkflows";
import { code, page, table } from "./markdown";

/** A header that the gateway reads or writes. */
export interface Header {
  readonly name: string;
  readonly meaning: string;
  /** The value that applies if it is left out; for requests only. */
  readonly without?: string;
}

export const requestHeaders: readonly Header[] = [
  {
    name: "authorization",
    meaning: "`Bearer KEY`: an API key of the gateway, where its settings have any.",
    without: "401 where keys are set",
  },
  {
    name: "x-api-key",
    meaning: "The same key, where `authorization` has none: Anthropic's clients send it so.",
    without: "`authorization`",
  },
  { name: "x-request-id", meaning: "The client's own id of the request; it comes back in the answer.", without: "the decision's id" },
  {
    name: "x-session-id",
    meaning: "The program that the request belongs to: one run of an application.",
    without: "the next of this table, then the trace of `traceparent`, else the request stands alone",
  },
  { name: "x-conversation-id", meaning: "Read as `x-session-id`.", without: "" },
  { name: "x-claude-code-session-id", meaning: "Read as `x-session-id`.", without: "" },
  { name: "x-dynamo-session-id", meaning: "Read as `x-session-id`.", without: "" },
  {
    name: "traceparent",
    meaning: "W3C trace context. The gateway's spans join the trace, and it names the program where no session does.",
    without: "a trace of its own",
  },
  { name: "x-weir-workflow", meaning: "The application, or the name of a declared workflow.", without: "the agent that called first" },
  { name: "x-weir-agent", meaning: "The agent that calls.", without: "the stage, else the call counts as unnamed" },
  { name: "x-weir-stage", meaning: "The agent of a declared workflow, where it has another name there.", without: "`x-weir-agent`" },
  {
    name: parentsHeader,
    meaning: "The agents whose answers the call follows, separated by commas. An agent is named once for each of its answers.",
    without: "the call of the program that ended last",
  },
  {
    name: startedAtHeader,
    meaning: "When the program began, in Unix milliseconds.",
    without: "its first call",
  },
  {
    name: "x-weir-deadline-seconds",
    meaning:
      "Seconds after the whole request has arrived at which the client needs the answer; the order by deadlines uses them. Nothing is refused for being late.",
    without: "the implied deadline of the order",
  },
  {
    name: "x-weir-program-tokens",
    meaning: "Output tokens that the program has left, as the client knows them; orders that run the shortest first use them.",
    without: "a predictor's number, where the plan has one",
  },
  {
    name: "x-weir-router-scores",
    meaning:
      "`model=score,…` with scores from 0 to 100: how well the application's own router expects each model to do. Read under plans with a direct start.",
    without: "the scores of the plan's trained router; with a modelled one the request starts at the first stage",
  },
  {
    name: "x-weir-stream",
    meaning: "`buffer` holds every stage back until it is accepted. `last` streams the last stage live.",
    without: "the settings' `streaming`, else `buffer`",
  },
  {
    name: "x-gateway-inference-objective",
    meaning: "The class of work of the request, one of the settings' classes.",
    without: "the key's class",
  },
  {
    name: "x-weir-category",
    meaning: "The category of a question to an ensemble, which chooses its experts.",
    without: "the ensemble's experts without regard to categories",
  },
];

export const responseHeaders: readonly Header[] = [
  { name: "x-request-id", meaning: "The client's id, or the decision's." },
  { name: "x-weir-decision-id", meaning: "Under which `GET /decisions/ID` of the admin port gives the record of the decision." },
  { name: "x-weir-model", meaning: "The model that wrote the answer." },
  { name: "x-weir-plan", meaning: "The id of the plan in force." },
  { name: "x-weir-policy", meaning: "The hash of the policy that decided." },
  { name: "x-weir-stage", meaning: "The stage that answered, from 1." },
  { name: "x-weir-escalations", meaning: "How many answers of earlier stages were not accepted." },
  {
    name: "x-weir-judge-score",
    meaning: "The score of the answer by the gate of its stage, the judge or another, 0 to 100; absent where nothing scored it.",
  },
  { name: "x-weir-queue-ms", meaning: "Time in the gateway's queues so far, in engine milliseconds." },
  {
    name: "x-weir-overhead-ms",
    meaning: "Time the gateway itself took so far, without queues, engines and judge, in engine milliseconds.",
  },
  { name: "x-weir-degraded", meaning: "What was not as the plan has it, separated by commas; for example `unjudged` or `lower-stage`." },
  {
    name: "x-weir-grace",
    meaning:
      "Thresholds that decided on answers to the request and that overload had lowered, the plan's and the one in force, as `84->79`, separated by commas; under plans with grace alone.",
  },
  { name: "x-weir-skipped", meaning: "Models of stages that could not answer, separated by commas." },
  {
    name: "x-weir-hosted-skipped",
    meaning:
      "Hosted models of these, each with `=budget` where a budget has no room for the request, or `=data-stays` where it may not leave the house.",
  },
  {
    name: "x-weir-ignored",
    meaning: "Fields of a body for `/v1/messages` or `/v1/responses` that are accepted and change nothing, separated by commas.",
  },
  { name: "request-id", meaning: "At `/v1/messages` the same as `x-request-id`: Anthropic's clients read it." },
  { name: "x-weir-ensemble-outcome", meaning: "`skipped`, `aggregated`, `aggregator-failed` or `failed`." },
  { name: "x-weir-ensemble-votes", meaning: "How the experts voted, as `2:1`." },
  { name: "x-weir-ensemble-confidence", meaning: "The confidence of the vote, 0 to 1." },
  { name: "x-weir-ensemble-call", meaning: "The id of the call of the ensemble; its parts carry it as their session." },
  {
    name: "x-should-retry",
    meaning: "`false` where the same request would fail again, or the gateway has used up its own attempts at it.",
  },
  { name: "retry-after", meaning: "With 429 and 503: seconds after which to try again." },
  {
    name: "x-ratelimit-limit-requests",
    meaning: "Requests a minute of the key. For keys with a rate.",
  },
  { name: "x-ratelimit-remaining-requests", meaning: "Requests that the key may send now." },
  { name: "x-ratelimit-reset-requests", meaning: "Time until the key may send as many as in a whole minute, such as `1m30s`." },
  {
    name: "x-ratelimit-limit-tokens",
    meaning: "The key's limit of tokens with the smallest rest. For keys with a limit of tokens.",
  },
  { name: "x-ratelimit-remaining-tokens", meaning: "What is left of that limit, less what requests in flight reserve." },
  { name: "x-ratelimit-reset-tokens", meaning: "Time until that limit begins again, such as `1m30s`." },
  {
    name: "x-weir-budget-warning",
    meaning: "Limits of the key whose use has reached the share to warn at, with the share used: `usdPerDay=0.83`.",
  },
];

/** Internal headers of the gateway: no client sends or sees them. */
export const internalHeaders: readonly string[] = ["x-weir-part", "x-accel-buffering", "x-weir-signature", "x-weir-revision"];

/** The page of the headers. */
export function headersPage(): string {
  const name = (header: Header): string => {
    const former = deprecatedHeaders[header.name];
    return `${code(header.name)}${former === undefined ? "" : ` (formerly ${code(former)}, accepted for one release)`}`;
  };
  return page([
    "# Headers",
    "Applications call the gateway as they would call OpenAI. All request headers are optional. What a client writes into an identifier is never an error: text that is no name counts as not said.",
    "## Requests",
    table(
      ["header", "meaning", "without it"],
      requestHeaders.map((header) => [name(header), header.meaning, header.without ?? ""]),
    ),
    "## Answers",
    "With a stream the headers leave before the end. What is known only later is in the decision's record.",
    table(
      ["header", "meaning"],
      responseHeaders.map((header) => [name(header), header.meaning]),
    ),
  ]);
}

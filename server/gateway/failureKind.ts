/** What a failed engine call failed of; few, so that they can be labels. */
export type FailureKind =
  | "ended"
  | "broken-stream"
  | "status-429"
  | "status-5xx"
  | "refused"
  | "no-answer"
  | "silent"
  | "connection"
  | "other";

const connection = /ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|EHOST|ENET|ETIMEDOUT|UND_ERR|HPE_|other side closed|socket hang up/;

const failures: readonly (readonly [FailureKind, RegExp])[] = [
  ["broken-stream", /after the first token: /],
  ["ended", /^(client went away|slow body|deadline|shutting down|aborted while judged)/],
  ["status-429", /^the engine answered 429/],
  ["status-5xx", /^the engine answered 5/],
  ["refused", /^the engine answered /],
  ["no-answer", /no completion|nothing to judge|before the first token$/],
  ["silent", /^nothing came for |the engine hangs/],
  ["connection", connection],
];

/** The kind of a stage's failure, of the reason in its record; engines' own words are `other`. */
export function failureKind(reason: string): FailureKind {
  return failures.find(([, pattern]) => pattern.test(reason))?.[0] ?? "other";
}

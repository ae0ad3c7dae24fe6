import type { OutgoingHttpHeaders } from "node:http";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { type ApiError, noRetry, retryAfter } from "../http/apiError";
import type { LoopbackFailure } from "../http/loopbackClient";
import type { Voted } from "./ensembleVotes";

/** Statuses by which a model refuses the request itself: its form or its length. */
const refusals: readonly number[] = [400, 413, 422];

/** Status of a full engine or gateway. */
const full = 429;

/** Whether an error is the client's own. A request to retry later is not: under overload there is no other request to count. */
export const isRefused = ({ status }: ApiError): boolean => refusals.includes(status);

/** The failure of a model whose answer was not complete when the time of the request was over. */
export const outOfTime = (model: string): LoopbackFailure => ({
  ...{ status: 504, message: `${model} did not finish its answer before the request's deadline.`, code: "deadline" },
  isFinal: true,
});

/** Why experts failed. */
const failuresOf = ({ experts }: Voted): readonly LoopbackFailure[] =>
  experts.flatMap((expert) => ("error" in expert ? [expert.error] : []));

/**
 * The error if there is no answer to give: no vote leads and the aggregator failed. If every model refused the request in the same way, it
 * is the first model's refusal. Otherwise it lists each model with its failure.
 */
export function noAnswerError(voted: Voted, { name, aggregator }: Ensemble, failure: LoopbackFailure): ApiError {
  const { experts } = voted;
  const [first = failure, ...others] = [...failuresOf(voted), failure];
  const alike = others.length === experts.length && others.every(({ status }) => status === first.status);
  if (alike && first.status === full) return { ...first, type: "rate_limit_error" };
  if (alike && refusals.includes(first.status)) return { ...first, type: "invalid_request_error" };
  const said = experts.map((expert) => {
    if (expert.state === "late") return `${expert.model} did not answer in time`;
    return "error" in expert ? `${expert.model}: ${expert.error.message}` : `${expert.model} gave no vote`;
  });
  const message = `The ensemble ${name} has no answer. ${said.join("; ")}; the aggregator ${aggregator.model}: ${failure.message}`;
  if (failure.code === "deadline") return { status: 504, message, type: "timeout_error", code: "deadline" };
  return { status: 502, message, type: "server_error", code: "ensemble_failed" };
}

/** The longest retry time that a model asks for, and whether the aggregator's failure, which is the last one, is final. */
export function retryHeaders(voted: Voted, failure: LoopbackFailure): OutgoingHttpHeaders {
  const seconds = [failure, ...failuresOf(voted)].flatMap(({ retryAfterSeconds }) => retryAfterSeconds ?? []);
  return { ...(seconds.length > 0 && retryAfter(Math.max(...seconds))), ...(failure.isFinal && noRetry) };
}

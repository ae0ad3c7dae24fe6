import type { OutgoingHttpHeaders } from "node:http";
import type { KeyLimit } from "@/solver/wording/keyLimits";
import { type ApiError, noRetry, retryAfter } from "../http/apiError";
import { amountOf, type BudgetRefusal, nanoPerUsd, type Spend } from "./keyBudget";

/** Clients of OpenAI sleep as long as `retry-after` says, some without a bound: after a longer wait they are not to send it again by themselves. */
const mostWaitSeconds = 60;
/** Requests in flight settle as they end. */
const inFlightSeconds = 1;
/** Most outages of Valkey are restarts. */
const outageSeconds = 5;

/** The error and its headers for a request that a limit of its key has no room for. @param prompt what it uses without an answer. @param nowMs Unix milliseconds. */
export function budgetRefusal(
  refusal: BudgetRefusal,
  { key, prompt, nowMs }: { readonly key: string; readonly prompt: Spend; readonly nowMs: number },
): { readonly error: ApiError; readonly headers: OutgoingHttpHeaders } {
  const { unit, period, most, whole = most, used, reserved, needed, resetsAtMs } = refusal;
  const code = unit === "usd" ? "budget_exceeded" : "token_limit_exceeded";
  const made = (message: string, headers: OutgoingHttpHeaders) => ({
    error: { status: 429, message, type: "rate_limit_error", code } as const,
    headers,
  });
  const limit = `${amountText(whole, unit)} a ${period}`;
  const need = unit === "usd" ? `cost ${amountText(needed, unit)}` : `need ${amountText(needed, unit)}`;
  const ofPrompt = amountOf(prompt, refusal);
  if (ofPrompt > whole) {
    const what = unit === "usd" ? `may cost ${amountText(ofPrompt, unit)}` : `may have ${amountText(ofPrompt, unit)}`;
    return made(`The prompt alone ${what}, but the key ${key} may use ${limit}: send a shorter one.`, noRetry);
  }
  if (needed > whole) {
    const advice = unit === "tokens" ? ": ask with a lower max_tokens" : "";
    return made(`The request may ${need}, but the key ${key} may use ${limit}${advice}.`, noRetry);
  }
  if (whole > most) {
    const message = `The gateway cannot reach the others with which it shares the limits of the key ${key}, and its share of ${limit} has no room for the request: send it again in some seconds.`;
    return made(message, retryAfter(outageSeconds));
  }
  if (used + needed <= most && used < most) {
    const what = `${amountText(reserved, unit)} of the key ${key}, which may use ${limit}`;
    return made(
      `Requests in flight have reserved ${what}: send the request again when one of them has ended.`,
      retryAfter(inFlightSeconds),
    );
  }
  const seconds = Math.max(1, Math.ceil((resetsAtMs - nowMs) / 1000));
  const headers = { ...retryAfter(seconds), ...(seconds > mostWaitSeconds && noRetry) };
  const next = `The next ${period} begins at ${new Date(resetsAtMs).toISOString()}.`;
  if (used >= most) return made(`The key ${key} has used its ${amountText(most, unit)} of this ${period}. ${next}`, headers);
  const left = amountText(most - used, unit);
  return made(`The request may ${need}, and the key ${key} has ${left} left of ${limit}. ${next}`, headers);
}

/** An amount with its unit. @param amount in tokens, or billionths of a USD. */
export function amountText(amount: number, unit: KeyLimit["unit"]): string {
  return unit === "usd" ? `${Number((amount / nanoPerUsd).toPrecision(6))} USD` : `${amount} ${amount === 1 ? "token" : "tokens"}`;
}

import { z } from "zod";
import { guardedFetch } from "@/server/contracts/engine/guardedFetch";

export interface PrometheusClientOptions {
  /** Root of its HTTP API, without a trailing slash. */
  readonly url: string;
  readonly bearer?: string;
  readonly timeoutMs: number;
}

interface PromSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** Seconds and values; NaN and infinities are left out. */
  readonly points: readonly (readonly [seconds: number, value: number])[];
}

/** Series and Prometheus' warnings; or why there are none, in a sentence. */
export type PromAnswer =
  | { readonly ok: true; readonly series: readonly PromSeries[]; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly reason: string };

export interface MatrixQuery {
  readonly query: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly stepSeconds: number;
}

const answerSchema = z.discriminatedUnion("status", [
  z.object({
    status: z.literal("success"),
    data: z.object({
      resultType: z.literal("matrix"),
      result: z.array(z.object({ metric: z.record(z.string(), z.string()), values: z.array(z.tuple([z.number(), z.string()])) })),
    }),
    warnings: z.array(z.string()).default([]),
  }),
  z.object({ status: z.literal("error"), errorType: z.string(), error: z.string() }),
]);

/** The range query of a Prometheus server's HTTP API. Never throws. */
export async function queryMatrix({ url, bearer, timeoutMs }: PrometheusClientOptions, asked: MatrixQuery): Promise<PromAnswer> {
  const failed = (how: string): PromAnswer => ({ ok: false, reason: `Prometheus at ${url} ${how}.` });
  try {
    const response = await guardedFetch(`${url}/api/v1/query_range`, {
      method: "POST",
      headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
      body: new URLSearchParams({
        query: asked.query,
        start: String(asked.startSeconds),
        end: String(asked.endSeconds),
        step: String(asked.stepSeconds),
        timeout: `${timeoutMs}ms`,
      }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status === 401 || response.status === 403) {
      await response.body?.cancel();
      return failed(`refused the studio (${response.status}): set WEIR_PROMETHEUS_TOKEN to a token that may query`);
    }
    const parsed = answerSchema.safeParse(await json(response));
    if (!parsed.success) return failed(`answered ${response.status} with something else than a range`);
    if (parsed.data.status === "error") return failed(`refused a query (${parsed.data.errorType}): ${parsed.data.error}`);
    const { data, warnings } = parsed.data;
    return { ok: true, series: data.result.map(({ metric, values }) => ({ labels: metric, points: finite(values) })), warnings };
  } catch (error) {
    const { name, cause, message } = error as Error & { cause?: { code?: string } };
    if (name === "TimeoutError") return failed(`did not answer within ${timeoutMs / 1000} s`);
    return failed(`cannot be reached: ${cause?.code ?? message}`);
  }
}

async function json(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const finite = (values: readonly (readonly [number, string])[]): (readonly [number, number])[] =>
  values.map(([seconds, value]) => [seconds, Number(value)] as const).filter(([, value]) => Number.isFinite(value));

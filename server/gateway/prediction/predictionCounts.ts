import type { GatewayRounds } from "@/server/contracts/gateway/gatewayRounds";
import { countOf } from "@/solver/workflow/configurationSet";
import type { MetricRegistry } from "../lib/metricRegistry";
import { Tally } from "../lib/tally";
import type { Noted } from "./featureLog";
import type { Absence, FoundConfigurations } from "./prediction";

/** From a batch of few requests to the time limit of a request's prediction. */
const secondsBuckets = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25];

/** Counts questions to predictors and lines of the training log. */
export class PredictionCounts {
  readonly #requests = new Tally(["outcome"]);
  readonly #batches = new Tally([]);
  readonly #answers = new Tally(["outcome"]);
  readonly #searches = new Tally(["outcome"]);
  readonly #beside = new Tally(["for"]);
  #observe: (seconds: number) => void = () => undefined;
  #observeSearch: (seconds: number) => void = () => undefined;
  #counts = { whole: 0, partial: 0, none: 0, unasked: 0 };
  /** Over the completed searches. */
  #sums = { searches: 0, tookMs: 0, searchMs: 0, evaluatedShare: 0 };
  #waits = { search: 0, engine: 0 };

  /** Counts a question to predictors. */
  asked(outcome: "predicted" | Absence, seconds: number): void {
    this.#requests.inc({ outcome });
    this.#observe(seconds);
  }

  /** Counts a search for the accurate configurations of a program, completed or not, with its duration and its time limit. */
  searched(found: FoundConfigurations | null, { tookMs, searchMs }: { readonly tookMs: number; readonly searchMs: number }): void {
    const outcome = searchOutcome(found);
    this.#searches.inc({ outcome });
    this.#counts[outcome] += 1;
    if (found === null) return;
    this.#observeSearch(tookMs / 1000);
    this.#sums.searches += 1;
    this.#sums.tookMs += tookMs;
    this.#sums.searchMs += searchMs;
    this.#sums.evaluatedShare += found.evaluated / found.of;
  }

  /** Counts a request that waited in its queue while its search ran: for the search, or longer, for an engine. */
  waitedBeside(forSearch: boolean): void {
    const cause = forSearch ? "search" : "engine";
    this.#beside.inc({ for: cause });
    this.#waits[cause] += 1;
  }

  /** Outcomes of searches so far, for `GET /rounds`. */
  get searches(): GatewayRounds["predictions"] {
    const { searches, tookMs, searchMs, evaluatedShare } = this.#sums;
    const meanOf = (sum: number): number | null => (searches === 0 ? null : sum / searches);
    return {
      ...this.#counts,
      meanMs: meanOf(tookMs),
      meanBudgetMs: meanOf(searchMs),
      evaluatedShare: meanOf(evaluatedShare),
      waitedFor: this.#waits,
    };
  }

  batch(): void {
    this.#batches.inc({});
  }

  /** Counts an answer by the outcome of logging it. */
  remembered(outcome: Noted): void {
    this.#answers.inc({ outcome });
  }

  register(registry: MetricRegistry): void {
    const help = "Requests for predictions: predicted, or why a prediction is missing.";
    registry.counter("weir_gateway_predictions_total", help, ["outcome"], this.#requests);
    registry.counter("weir_gateway_prediction_batches_total", "Batches of requests that were predicted together.", [], this.#batches);
    const seconds = registry.histogram("weir_gateway_prediction_seconds", "Wait of a request for its predictions, in wall seconds.", {
      labels: [],
      buckets: secondsBuckets,
    });
    this.#observe = (value) => seconds.observe({}, value);
    registry.counter(
      "weir_gateway_configuration_searches_total",
      "Searches for the accurate configurations of programs: whole, partial (time ended first), none (time ended before anything was verified) or unasked (the predictor was not available).",
      ["outcome"],
      this.#searches,
    );
    registry.counter(
      "weir_gateway_configuration_search_waits_total",
      "Requests that waited in their queue while the accurate configurations of their program were searched for: for the search (an engine had room before it ended), or longer, for an engine.",
      ["for"],
      this.#beside,
    );
    const search = registry.histogram(
      "weir_gateway_configuration_search_seconds",
      "Duration of a search for a program's accurate configurations, beside the queue, in wall seconds.",
      { labels: [], buckets: secondsBuckets },
    );
    this.#observeSearch = (value) => search.observe({}, value);
    registry.counter(
      "weir_gateway_learning_answers_total",
      "Answers to be stored for training: kept, left out with their programs (no room for all) or dropped (they came too fast).",
      ["outcome"],
      this.#answers,
    );
  }
}

/** The configuration of the largest models is accurate by definition: if the set contains only that one, nothing was verified. */
function searchOutcome(found: FoundConfigurations | null): "whole" | "partial" | "none" | "unasked" {
  if (found === null) return "unasked";
  if (found.whole) return "whole";
  return countOf(found.accurate) > 1 ? "partial" : "none";
}

import type { Noted } from "./learningBook";
import type { MetricRegistry } from "./metricRegistry";
import type { Absence } from "./prediction";
import { Tally } from "./tally";

/** From a batch of few requests to the limit that a request waits for. */
const secondsBuckets = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25];

/** Counts what predictors were asked and what is remembered to learn from. */
export class PredictionCounts {
  readonly #requests = new Tally(["outcome"]);
  readonly #batches = new Tally([]);
  readonly #answers = new Tally(["outcome"]);
  #observe: (seconds: number) => void = () => undefined;

  /** A request was put to predictors. */
  asked(outcome: "predicted" | Absence, seconds: number): void {
    this.#requests.inc({ outcome });
    this.#observe(seconds);
  }

  batch(): void {
    this.#batches.inc({});
  }

  /** An answer was to be remembered. */
  remembered(outcome: Noted): void {
    this.#answers.inc({ outcome });
  }

  register(registry: MetricRegistry): void {
    const help = "Requests put to predictors: predicted, or why they, or some of them, did not say anything.";
    registry.counter("weir_gateway_predictions_total", help, ["outcome"], this.#requests);
    registry.counter("weir_gateway_prediction_batches_total", "Batches of requests that were predicted in one go.", [], this.#batches);
    const seconds = registry.histogram(
      "weir_gateway_prediction_seconds",
      "What a request waited for its predictions, in seconds of the wall.",
      {
        labels: [],
        buckets: secondsBuckets,
      },
    );
    this.#observe = (value) => seconds.observe(value);
    registry.counter(
      "weir_gateway_learning_answers_total",
      "Answers to be remembered: kept, left out with their programs where there is not room for all, dropped where they came too fast.",
      ["outcome"],
      this.#answers,
    );
  }
}

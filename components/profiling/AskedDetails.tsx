import type { Answerer, ProfileJob } from "@/server/contracts/studio";
import { measureWords } from "@/solver/gates/gates";
import { formatCount, formatCounted, formatUsd } from "../ui/format";
import { kindWords } from "./measureWords";

const placeText = ({ at }: Answerer): string => (at.kind === "url" ? at.url : `cluster ${at.clusterId}`);

const priceText = ({ usdPerMillionInputTokens, usdPerMillionOutputTokens }: Answerer): string =>
  usdPerMillionInputTokens + usdPerMillionOutputTokens === 0
    ? "costs nothing more"
    : `${formatUsd(usdPerMillionInputTokens)} in, ${formatUsd(usdPerMillionOutputTokens)} out a million tokens`;

/** A job's settings at its start. */
export function AskedDetails({ job }: { readonly job: ProfileJob }) {
  const { models, measures, concurrency, requestsPerMinute, maxOutputTokens, keepAnswers, gates } = job.request;
  return (
    <details>
      <summary className="text-sm text-ink-2">What was asked</summary>
      <dl className="mt-2 grid gap-x-8 gap-y-3 text-sm md:grid-cols-2 [&_dt]:text-xs [&_dt]:text-ink-3">
        <div>
          <dt>Models</dt>
          {models.map((each) => (
            <dd key={each.model} className="[overflow-wrap:anywhere]">
              {each.model} <span className="text-xs text-ink-3">{`${placeText(each)}, ${priceText(each)}`}</span>
            </dd>
          ))}
        </div>
        <div>
          <dt>Measures</dt>
          {measures.map((each) => (
            <dd key={each.id} className="[overflow-wrap:anywhere]">
              {each.name}{" "}
              <span className="text-xs text-ink-3">
                {kindWords[each.kind].name}
                {"judge" in each && `: ${each.judge.model} at ${placeText(each.judge)}, ${priceText(each.judge)}`}
                {"repeats" in each && each.repeats > 1 && `, ${each.repeats} readings`}
                {"rubric" in each && each.rubric !== null && ", own wording"}
              </span>
            </dd>
          ))}
        </div>
        <div>
          <dt>Gates</dt>
          <dd>
            {gates.confidence ? `with log probabilities (${measureWords[gates.measure ?? "minimum"]})` : "without log probabilities"},{" "}
            {gates.samples === null
              ? "no further samples"
              : `${formatCounted(gates.samples.count, "further sample")} of each answer at temperature ${gates.samples.temperature}`}
          </dd>
        </div>
        <div>
          <dt>Limits</dt>
          <dd>
            {formatCount(concurrency)} calls at once to each,{" "}
            {requestsPerMinute === null ? "no limit of the rate" : `${formatCount(requestsPerMinute)} calls a minute in all`}, answers of at
            most {formatCount(maxOutputTokens)} tokens
          </dd>
        </div>
        <div>
          <dt>Texts of answers</dt>
          <dd>{keepAnswers ? (job.hasAnswers ? "kept" : "kept, and deleted since") : "deleted as soon as they were judged"}</dd>
        </div>
      </dl>
    </details>
  );
}

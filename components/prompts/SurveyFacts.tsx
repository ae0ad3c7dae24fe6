import { useMemo } from "react";
import type { PromptSurvey } from "@/server/contracts/studio";
import { Figure } from "../ui/Figure";
import { formatCount, formatPercent } from "../ui/format";
import { Notes } from "../ui/Notes";
import { prepareSurvey } from "./prepareSurvey";

/** The survey of a file of prompts: form, counts, lengths, categories, and the skipped lines. */
export function SurveyFacts({ survey }: { readonly survey: PromptSurvey }) {
  const picture = useMemo(() => prepareSurvey(survey), [survey]);
  return (
    <div className="flex flex-col gap-3" data-testid="survey">
      <p className="text-sm">{picture.says}</p>
      <dl className="flex flex-wrap gap-x-8 gap-y-3">
        {picture.facts.map((fact) => (
          <Figure key={fact.name} {...fact} />
        ))}
      </dl>
      {picture.categories.length > 1 && (
        <ul aria-label="Categories" className="grid list-none gap-x-8 gap-y-1 text-sm sm:grid-cols-2">
          {picture.categories.map((category) => (
            <li key={category.name} className="flex items-center gap-2">
              <span className="w-36 truncate sm:w-52" title={category.name}>
                {category.name}
              </span>
              <span aria-hidden="true" className="h-1.5 min-w-0 flex-1 overflow-hidden rounded bg-line">
                <span className="block h-full bg-accent" style={{ width: `${category.share * 100}%` }} />
              </span>
              <span className="w-28 text-right text-xs text-ink-3">
                {formatCount(category.prompts)}, {formatPercent(category.share)}
              </span>
            </li>
          ))}
        </ul>
      )}
      <Notes items={picture.lacks} className="max-w-prose text-sm text-warn" />
      {survey.badLines.length > 0 && (
        <details>
          <summary className="text-sm text-ink-2">Skipped lines</summary>
          <ul className="mt-1 list-none text-sm">
            {survey.badLines.map(({ line, problem }) => (
              <li key={line} className="flex gap-3">
                <span className="w-24 shrink-0 text-ink-3">line {formatCount(line)}</span>
                <span className="min-w-0 [overflow-wrap:anywhere]">{problem}</span>
              </li>
            ))}
          </ul>
          {picture.moreBadLines > 0 && <p className="mt-1 text-xs text-ink-3">And {formatCount(picture.moreBadLines)} more.</p>}
        </details>
      )}
    </div>
  );
}

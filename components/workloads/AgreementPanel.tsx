import type { WorkloadDetail } from "@/server/contracts/studio";
import { ModelName } from "../ui/ModelChip";
import type { ModelIdentity } from "../ui/modelIdentity";
import { Panel } from "../ui/Panel";
import { prepareAgreement } from "./prepareWorkload";

const fills = {
  both: "var(--good)",
  larger: "var(--accent)",
  smaller: "var(--warn)",
  neither: "var(--line-strong)",
} as const;

/** Which of two models answers a prompt correctly: what escalation can gain, and what it can lose. */
export function AgreementPanel(props: { readonly detail: WorkloadDetail; readonly identities: ReadonlyMap<string, ModelIdentity> }) {
  const { detail, identities } = props;
  return (
    <Panel title="Agreement between models" aside={<span>right: label of at least 50</span>}>
      <div className="flex flex-col gap-4">
        {prepareAgreement(detail.agreement).map(({ key, smaller, larger, parts }) => (
          <section key={key} className="flex flex-col gap-1" aria-label={`${smaller} and ${larger}`}>
            <h3 className="flex flex-wrap items-center gap-x-2 text-sm">
              <ModelName model={smaller} identities={identities} /> and <ModelName model={larger} identities={identities} />
            </h3>
            <div aria-hidden="true" className="flex h-3 w-full gap-px overflow-hidden rounded-sm">
              {parts.map((part) => (
                <span
                  key={part.key}
                  style={{ width: `${100 * part.share}%`, backgroundColor: fills[part.key] }}
                  className={part.key === "smaller" ? "hatched" : ""}
                />
              ))}
            </div>
            <ul className="flex list-none flex-wrap gap-x-4 text-xs text-ink-2">
              {parts.map((part) => (
                <li key={part.key} className="inline-flex items-center gap-1.5 whitespace-nowrap">
                  <span
                    aria-hidden="true"
                    className={`size-2 rounded-[2px] ${part.key === "smaller" ? "hatched" : ""}`}
                    style={{ backgroundColor: fills[part.key] }}
                  />
                  {part.words} {part.text}
                </li>
              ))}
            </ul>
          </section>
        ))}
        {detail.agreement.length === 0 && <p className="text-sm text-ink-3">Only one model answers, so there is no agreement to show.</p>}
      </div>
    </Panel>
  );
}

import { ClusterLink } from "@/components/shell/ClusterLink";
import { Badge, StateWord, type Tone } from "@/components/ui/Badge";
import { CopyButton } from "@/components/ui/CopyButton";
import { formatClock, formatDate, shortHash } from "@/components/ui/format";
import { ModelMark } from "@/components/ui/ModelChip";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import { Notes } from "@/components/ui/Notes";
import { LabelAnswer } from "./LabelAnswer";
import { type Decision, prepareDecision, type Stage } from "./prepareDecision";
import { labelledAnswer } from "./prepareLabel";
import { degradedTexts, type Fact, reasonText, requestFacts, stageFacts } from "./prepareRecord";
import { prepareWaterfall } from "./prepareWaterfall";
import { Waterfall } from "./Waterfall";

const verdictTones: Readonly<Record<Stage["verdict"], Tone>> = { accepted: "good", escalated: "accent", failed: "bad" };

function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-2 sm:grid-cols-3">
      {facts.map(({ name, text }) => (
        <div key={name} className="min-w-0">
          <dt className="text-xs text-ink-3">{name}</dt>
          <dd className="[overflow-wrap:anywhere]">{text}</dd>
        </div>
      ))}
    </dl>
  );
}

function StageCard({ stage, identity }: { readonly stage: Stage; readonly identity: ModelIdentity | undefined }) {
  return (
    <li className="flex flex-col gap-2 rounded-md border p-3">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        {identity !== undefined && <ModelMark identity={identity} />}
        <span className="font-medium">{stage.model}</span>
        <span className="text-xs text-ink-3 [overflow-wrap:anywhere]">on {stage.replica}</span>
        <StateWord tone={verdictTones[stage.verdict]}>{stage.verdict}</StateWord>
        <span className="text-ink-2 [overflow-wrap:anywhere]">{reasonText(stage.reason, stage.detail)}</span>
      </div>
      <Facts facts={stageFacts(stage)} />
    </li>
  );
}

/** The request's name and outcome, and the plan and policy that decided. */
function Identity({ decision }: { readonly decision: Decision }) {
  const { id, status, finishedAtMs, planId, policyHash, call, program } = decision;
  const finished = new Date(finishedAtMs).toISOString();
  const { note } = prepareDecision(decision);
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <code className="font-mono [overflow-wrap:anywhere]">{id}</code>
        <CopyButton text={id} label="Copy id" />
      </div>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-ink-2">
        <StateWord tone={status < 400 ? "good" : "bad"}>{status < 400 ? `answered ${status}` : `failed ${status}`}</StateWord>
        {note !== null && <StateWord tone="warn">{note}</StateWord>}
        {decision.canary === true && <Badge tone="accent">canary's candidate</Badge>}
        <time dateTime={finished} title={formatDate(finished)}>
          {formatClock(finished)}
        </time>
        {planId !== "" && (
          <span>
            plan{" "}
            <ClusterLink to={`/apply/${planId}`} className="font-mono text-accent underline-offset-2 hover:underline">
              {shortHash(planId)}
            </ClusterLink>
          </span>
        )}
        {call !== undefined && program !== undefined && (
          <ClusterLink to={`/workflows?tab=just-in-time&program=${encodeURIComponent(program)}`}>configurations of its program</ClusterLink>
        )}
        {policyHash !== "" && (
          <span>
            policy{" "}
            <code className="font-mono text-ink" title={policyHash}>
              {shortHash(policyHash)}
            </code>
          </span>
        )}
      </div>
    </>
  );
}

/** One complete decision record: everything known about why a request was answered as it was. */
export function DecisionRecord(props: {
  readonly decision: Decision;
  readonly clusterId: string;
  readonly identities: ReadonlyMap<string, ModelIdentity>;
}) {
  const { decision, clusterId, identities } = props;
  const labelled = labelledAnswer(decision);
  const { stages, reason, prompt } = decision;
  const json = JSON.stringify(decision, null, 2);
  return (
    <div className="flex flex-col gap-4 text-sm" data-testid="decision-record">
      <Identity decision={decision} />
      {reason !== "" && <p>The gateway answered on its own: {reason}</p>}
      <Notes items={degradedTexts(decision)} className="text-warn" />
      {stages.length === 0 ? (
        <p>The request reached no stage.</p>
      ) : (
        <>
          <Waterfall drawn={prepareWaterfall(decision)} identities={identities} />
          <ol className="flex list-none flex-col gap-2">
            {stages.map((stage, at) => (
              <StageCard key={at} stage={stage} identity={identities.get(stage.model)} />
            ))}
          </ol>
        </>
      )}
      {typeof labelled === "string" ? (
        <p className="text-xs text-ink-3">{labelled}</p>
      ) : (
        <LabelAnswer clusterId={clusterId} decisionId={decision.id} answer={labelled} />
      )}
      <Facts facts={requestFacts(decision)} />
      {prompt === undefined ? (
        <p className="text-xs text-ink-3">This record holds no prompt and no answer.</p>
      ) : (
        <section>
          <h3 className="text-xs text-ink-3">End of the prompt, recorded by the gateway's settings</h3>
          <p className="mt-1 rounded-md bg-sunken p-2 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">{prompt}</p>
        </section>
      )}
      <details>
        <summary className="text-xs text-ink-3">As JSON</summary>
        <div className="mt-2 flex flex-col items-start gap-2">
          <CopyButton text={json} label="Copy JSON" />
          <pre className="w-full rounded-md bg-sunken p-2 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">{json}</pre>
        </div>
      </details>
    </div>
  );
}

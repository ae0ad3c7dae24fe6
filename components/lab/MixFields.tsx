import type { LabSpec, LabWorkflow } from "@/server/contracts/studio";
import { Check } from "../ui/Check";
import { NumberInput } from "../ui/NumberInput";
import { WorkflowDrawing } from "./WorkflowDrawing";

/** Which workflows programs run, and how many of the programs run each. */
export function MixFields(props: {
  readonly workflows: readonly LabWorkflow[];
  readonly mix: LabSpec["mix"];
  readonly onMix: (mix: LabSpec["mix"]) => void;
}) {
  const { workflows, mix } = props;
  const all = mix.reduce((sum, { share }) => sum + share, 0);
  const toggle = (workflow: string, on: boolean) =>
    props.onMix(on ? [...mix, { workflow, share: Math.min(1, all / mix.length || 1) }] : mix.filter((each) => each.workflow !== workflow));
  return (
    <ul aria-label="Workflows" className="grid list-none gap-x-8 gap-y-1 lg:grid-cols-2">
      {workflows.map((workflow) => {
        const own = mix.find((each) => each.workflow === workflow.name);
        return (
          <li key={workflow.name} className="flex min-w-0 flex-wrap items-center gap-x-3 border-b py-1">
            <Check
              checked={own !== undefined}
              disabled={own !== undefined && mix.length === 1}
              onChange={(checked) => toggle(workflow.name, checked)}
            >
              <span title={workflow.source}>{workflow.title}</span>
            </Check>
            <span className="ml-auto flex min-w-0 items-center gap-3">
              <WorkflowDrawing workflow={workflow} />
              {own !== undefined && (
                <span className="flex flex-wrap items-center gap-1 text-xs">
                  <NumberInput
                    label={`Share of ${workflow.title}, per cent`}
                    value={Math.round((own.share / all) * 1000) / 10}
                    min={0.1}
                    max={100}
                    step={1}
                    onChange={(percent) => props.onMix(withShare(mix, workflow.name, percent / 100))}
                  />
                  <span className="text-ink-3">%</span>
                </span>
              )}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

/** The mix in which one workflow has this share of all; the others keep theirs relative to one another. */
function withShare(mix: LabSpec["mix"], workflow: string, share: number): LabSpec["mix"] {
  const others = mix.reduce((sum, each) => sum + (each.workflow === workflow ? 0 : each.share), 0);
  if (others === 0) return mix;
  const left = Math.max(1e-3, 1 - share);
  return mix.map((each) => ({ ...each, share: each.workflow === workflow ? share : (each.share / others) * left }));
}

import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { accurateSet, configurationQuality } from "@/solver/workflow/configurationOutcomes";
import { membersOf } from "@/solver/workflow/configurationSet";
import type { ConfigurationSpace } from "@/solver/workflow/configurationSpace";
import type { ProgramSample } from "@/solver/workflow/programSample";
import type { Embeddings } from "./confidence";
import type { RequestFacts } from "./predictor";
import { factsOf, type PromptTexts } from "./programFacts";

/**
 * Prompts with the accuracy of every configuration of a workflow, modelled or executed. Arrays are parallel, or by prompt, then by
 * configuration.
 */
export interface ConfigurationRows {
  readonly workflow: WorkflowDocument;
  readonly space: ConfigurationSpace;
  /** Row of each prompt in the outcome table, or the list of executed inputs, ascending. */
  readonly prompts: Int32Array;
  readonly facts: readonly RequestFacts[];
  /** Number of programs of each prompt. */
  readonly programs: Float32Array;
  /** Share of the prompt's programs for which the configuration is as accurate as the largest models. */
  readonly accurate: Float32Array;
  /** Quality in 0..100 lost relative to these, mean over the prompt's programs; negative for a gain. */
  readonly loss: Float32Array;
  /** An encoder's embeddings of the prompts, read instead of their words. */
  readonly embeddings?: Embeddings;
}

/**
 * Training or test data from programs: outcomes of every configuration as `configurationOutcomes.ts` models them, grouped by prompt, since
 * programs of one prompt look the same before they run. Programs of other workflows and of unknown quality are left out.
 */
export function configurationRowsOf(
  sample: ProgramSample,
  space: ConfigurationSpace,
  texts: PromptTexts,
  workflow: WorkflowDocument,
): ConfigurationRows {
  const programsOf = new Map<number, number[]>();
  for (const [program, prompt] of sample.prompt.entries()) {
    if (sample.workflows[sample.workflow[program] ?? 0]?.name !== workflow.name) continue;
    const known = programsOf.get(prompt) ?? [];
    programsOf.set(prompt, known);
    known.push(program);
  }
  const { size } = space;
  const prompts = Int32Array.from(programsOf.keys()).sort();
  const facts: RequestFacts[] = [];
  const programs = new Float32Array(prompts.length);
  const accurate = new Float32Array(prompts.length * size);
  const loss = new Float32Array(prompts.length * size);
  for (const [row, prompt] of prompts.entries()) {
    const own = programsOf.get(prompt) ?? [];
    const request = sample.firstRequest[own[0] ?? 0] ?? 0;
    facts.push(factsOf(sample, texts, request, sample.givenTokens[request] ?? 0));
    for (const program of own) {
      const quality = configurationQuality(sample, program, space);
      if (quality.some(Number.isNaN)) continue;
      programs[row] = (programs[row] ?? 0) + 1;
      for (const configuration of membersOf(accurateSet(quality)))
        accurate[row * size + configuration] = (accurate[row * size + configuration] ?? 0) + 1;
      for (const [configuration, worth] of quality.entries()) {
        loss[row * size + configuration] = (loss[row * size + configuration] ?? 0) + (quality[size - 1] ?? 0) - worth;
      }
    }
    for (let at = row * size; at < (row + 1) * size; at++) {
      accurate[at] = (accurate[at] ?? 0) / Math.max(1, programs[row] ?? 0);
      loss[at] = (loss[at] ?? 0) / Math.max(1, programs[row] ?? 0);
    }
  }
  return { workflow, space, prompts, facts, programs, accurate, loss };
}

"use client";

import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { useLabelAct } from "@/components/api/acts";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { useHindrance } from "@/components/api/useMe";
import { labelChoices } from "@/components/labelling/labelChoices";
import { buttonClass } from "@/components/ui/Button";
import { ErrorLine } from "@/components/ui/ErrorLine";
import { type LabelledAnswer, labelledText } from "./prepareLabel";

/** A person's label of the answer that the client got, with which its gate is calibrated again. */
export function LabelAnswer(props: { readonly clusterId: string; readonly decisionId: string; readonly answer: LabelledAnswer }) {
  const { clusterId, decisionId, answer } = props;
  const id = useId();
  const client = useTRPCClient();
  const hindrance = useHindrance("prepare");
  const given = useQuery(useTRPC().labels.ofDecision.queryOptions({ clusterId, decisionId }));
  const label = useLabelAct((quality: number) =>
    client.labels.answers.mutate({ clusterId, labels: [{ decisionId, model: answer.model, quality }] }),
  );
  const present = given.data?.find(({ model }) => model === answer.model) ?? null;
  return (
    <section aria-labelledby={id} className="flex flex-col gap-2 rounded-md border p-3">
      <h3 id={id} className="text-sm font-medium">
        How good was this answer?
      </h3>
      <p className="text-xs text-ink-3">
        If you know it: the record does not hold it. Its gate gave it a raw score of {answer.raw}; with enough labels the gate is calibrated
        again.
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: buttons that act at once are no fields of a form. */}
      <div role="group" aria-label="Label" className="flex flex-wrap gap-2">
        {labelChoices.one.map(({ quality, word }) => (
          <button
            key={quality}
            type="button"
            aria-pressed={present?.quality === quality}
            disabled={label.isPending || hindrance !== null}
            onClick={() => label.mutate(quality)}
            className={`${buttonClass("plain")} aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent`}
          >
            {word}
          </button>
        ))}
      </div>
      {hindrance !== null && <p className="text-xs text-ink-3">{hindrance}</p>}
      <p role="status" className="text-xs text-ink-2">
        {label.isPending ? "Keeping the label …" : given.isPending ? "Reading the labels …" : given.isError ? "" : labelledText(present)}
      </p>
      <ErrorLine error={label.error ?? given.error} />
    </section>
  );
}

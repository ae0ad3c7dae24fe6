"use client";

import { useMutation } from "@tanstack/react-query";
import { useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { TextField } from "../ui/Field";
import { FindingList } from "./FindingList";
import { type EndpointExtras, judgeInForm } from "./prepareAttach";

const fields = [
  { key: "judgeUrl", label: "Judge's address", className: "flex-1 basis-56", placeholder: "http://judge-1:8000" },
  { key: "judgeModel", label: "Judge's model name", className: "flex-1 basis-44", placeholder: "judge" },
  { key: "judgeKey", label: "Variable with the judge's key", className: "flex-1 basis-44", placeholder: "none, or WEIR_JUDGE_KEY" },
  { key: "judgeSeconds", label: "Seconds of a judge call", className: "basis-44", placeholder: "as measured" },
] as const;

/** The judge of attached engines: its address, a test with real calls, and its time if the operator enters one. */
export function AttachJudgeFields(props: {
  readonly extras: EndpointExtras;
  readonly models: readonly string[];
  readonly onChange: (change: Partial<EndpointExtras>) => void;
}) {
  const { extras, models, onChange } = props;
  const client = useTRPCClient();
  const judge = judgeInForm(extras);
  const named = judge !== null && "model" in judge ? judge : null;
  const judgeKey = JSON.stringify(named);
  const test = useMutation({
    mutationFn: async (asked: NonNullable<typeof named>) => ({
      key: JSON.stringify(asked),
      found: await client.clusters.tryJudge.mutate({ judge: asked }),
    }),
  });
  // Findings about another judge do not apply to this one.
  const found = test.data?.key === judgeKey ? test.data.found : null;
  return (
    <div className="flex flex-col gap-3">
      <p className="max-w-prose text-sm text-ink-2">
        {models.length > 1
          ? `A cascade over ${models.join(", ")} needs a judge that scores answers: an OpenAI-compatible endpoint. Without one, plans of a single model can be applied.`
          : "A judge scores answers of a cascade of several models; one model alone needs none."}
      </p>
      <div className="flex flex-wrap items-end gap-3">
        {fields.map(({ key, ...field }) => (
          <TextField key={key} {...field} value={extras[key]} onChange={(text) => onChange({ [key]: text })} />
        ))}
      </div>
      <div className="flex flex-wrap items-center gap-3">
        <Button
          disabled={named === null || test.isPending}
          title="The test asks for about 15 scores, as the gateway would"
          onClick={() => {
            if (named !== null) test.mutate(named);
          }}
        >
          {test.isPending ? "Testing the judge …" : "Test the judge"}
        </Button>
        <span className="text-sm text-ink-2">
          Every prediction of a cascade includes its call time, which is measured when it is attached and in traffic.
        </span>
      </div>
      <div role="status">
        <ErrorLine error={test.error} />
        {found !== null && (
          <FindingList
            findings={found.findings}
            label="What testing the judge found"
            onAllowed={() => named !== null && test.mutate(named)}
          />
        )}
      </div>
    </div>
  );
}

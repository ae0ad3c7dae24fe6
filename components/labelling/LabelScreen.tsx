"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../api/trpc";
import { ClusterLink } from "../shell/ClusterLink";
import { buttonClass } from "../ui/Button";
import { PageHeader } from "../ui/PageHeader";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { codecOf, named, withDefault, word } from "../url/addressFields";
import { useUrlView } from "../url/useUrlView";
import { LabelDesk } from "./LabelDesk";
import type { LabelKind } from "./labelChoices";
import { noAnswers } from "./noAnswers";
import { TrustDisclosure } from "./TrustDisclosure";

/** Whether one answer is labelled at a time, or two are compared: `?answers=two`. */
export const labelCodec = codecOf({ kind: named("answers", withDefault(word(["one", "two"]), "one")) });

const kinds: readonly { readonly kind: LabelKind; readonly name: string }[] = [
  { kind: "one", name: "One answer" },
  { kind: "two", name: "Two answers" },
];

/** Label by hand: a few dozen answers of a profile, blind, and the resulting trust in its measures. */
export function LabelScreen({ jobId }: { readonly jobId: string }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.profiles.get.queryOptions({ id: jobId }));
  const [{ kind }, write] = useUrlView(labelCodec);
  const job = query.data;
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title="Label by hand">
        {job !== undefined && (
          <ClusterLink to={`/workloads/profiles/${jobId}`} className="text-sm text-ink-2 underline underline-offset-2">
            {job.request.name}
          </ClusterLink>
        )}
        {/* biome-ignore lint/a11y/useSemanticElements: two buttons that change what is shown are no fields of a form. */}
        <div role="group" aria-label="What is labelled" className="ml-auto flex gap-1">
          {kinds.map((each) => (
            <button
              key={each.kind}
              type="button"
              aria-pressed={kind === each.kind}
              // Two answers to a prompt need two models.
              disabled={each.kind === "two" && (job?.request.models.length ?? 2) < 2}
              onClick={() => write({ kind: each.kind }, "push")}
              className={`${buttonClass("quiet")} aria-pressed:bg-accent-soft aria-pressed:text-accent`}
            >
              {each.name}
            </button>
          ))}
        </div>
      </PageHeader>
      <PanelState status={queryStatus(query, { what: "Reading the profile", empty: job !== undefined && noAnswers(job) })}>
        {() => <LabelDesk key={kind} jobId={jobId} kind={kind} />}
      </PanelState>
      {job !== undefined && <TrustDisclosure job={job} kind={kind} />}
    </div>
  );
}

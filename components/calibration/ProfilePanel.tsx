"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ProfileList } from "@/server/contracts/studio";
import { type EngineProfile, isMeasured } from "@/solver/hardware/engineProfile";
import { profileText } from "@/solver/hardware/readProfileText";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { StateWord } from "../ui/Badge";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { NoteList } from "../ui/Notes";
import { Panel } from "../ui/Panel";
import { PermittedButton } from "../ui/PermittedButton";
import { saveText } from "../ui/saveText";
import { CoefficientTable } from "./CoefficientTable";
import { ErrorTable } from "./ErrorTable";
import { FittedOn } from "./FittedOn";
import { MeasuredTable } from "./MeasuredTable";
import { fileStem } from "./prepareLiveRows";
import { extrapolations, type Hardware } from "./prepareProfile";

/** Whether plans use the displayed profile, and the button that changes it. */
function Use({ profile, list }: { readonly profile: EngineProfile; readonly list: ProfileList }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const renew = () => queries.invalidateQueries({ queryKey: trpc.pathKey() });
  const use = useMutation({
    mutationFn: async (id: string) => unwrapOutcome(await client.calibrations.use.mutate({ id })),
    onSuccess: renew,
  });
  const remove = useMutation({
    mutationFn: async (id: string) => unwrapOutcome(await client.calibrations.remove.mutate({ id })),
    onSuccess: renew,
  });
  const own = list.own.some((kept) => kept.profile.id === profile.id);
  const usual = list.builtIn.find((each) => each.engine === profile.engine);
  const problem = use.error ?? remove.error;
  return (
    <>
      <ErrorLine error={problem} />
      {list.inUse === profile.id ? (
        <>
          <StateWord tone="good">used for planning</StateWord>
          {own && usual !== undefined && (
            <PermittedButton permission="prepare" disabled={use.isPending} onClick={() => use.mutate(usual.id)}>
              Use the built-in profile {usual.name}
            </PermittedButton>
          )}
        </>
      ) : (
        <>
          {own && (
            <PermittedButton permission="prepare" look="quiet" disabled={remove.isPending} onClick={() => remove.mutate(profile.id)}>
              Remove
            </PermittedButton>
          )}
          <PermittedButton permission="prepare" disabled={use.isPending} onClick={() => use.mutate(profile.id)}>
            Use for planning
          </PermittedButton>
        </>
      )}
      <Button onClick={() => saveText(`${fileStem(profile.name)}.json`, profileText(profile))}>Export</Button>
    </>
  );
}

/** A profile's content, its error on runs it had not seen, and where it only extrapolates. */
export function ProfilePanel(props: { readonly profile: EngineProfile; readonly list: ProfileList; readonly hardware: Hardware | null }) {
  const { profile, hardware } = props;
  const sentences = hardware === null ? [] : extrapolations(profile, hardware);
  return (
    <Panel title={profile.name} aside={<Use profile={profile} list={props.list} />}>
      <div className="grid gap-x-8 gap-y-6 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        {isMeasured(profile) ? <MeasuredTable profile={profile} /> : <CoefficientTable profile={profile} before={null} />}
        <div className="flex min-w-0 flex-col gap-6">
          <section className="flex flex-col gap-2">
            <h3 className="text-sm font-semibold">On held-out runs</h3>
            {profile.errors === null ? (
              <p className="text-sm text-ink-3">The profile does not state its errors: compare it with your own runs below.</p>
            ) : (
              <ErrorTable caption={`Errors of ${profile.name} on unseen runs`} sets={[{ name: "unseen", errors: profile.errors }]} />
            )}
            <p className="text-xs text-ink-3">
              Relative errors of predicted means. Public measurements have means only, so percentiles are not validated here.
            </p>
          </section>
          <section className="flex flex-col gap-2">
            <h3 className="text-sm font-semibold">Fitted on</h3>
            <FittedOn profile={profile} />
          </section>
          {hardware !== null && (
            <section className="flex flex-col gap-2">
              <h3 className="text-sm font-semibold">For this cluster</h3>
              {sentences.length === 0 ? (
                <p className="text-sm text-ink-2">
                  Its GPU and models were among the {profile.fittedOn?.emulated ? "runs, which were emulated" : "runs"}.
                </p>
              ) : (
                <NoteList items={sentences} className="flex list-disc flex-col gap-1 pl-4 text-sm text-ink-2" />
              )}
            </section>
          )}
        </div>
      </div>
    </Panel>
  );
}

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ProfileList } from "@/server/contracts/studio";
import { type EngineProfile, engineTitle, MOST_PROFILE_NAME } from "@/solver/hardware/engineProfile";
import { readProfileText } from "@/solver/hardware/readProfileText";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { TextField } from "../ui/Field";
import { FilePicker } from "../ui/FilePicker";
import { Modal } from "../ui/Modal";
import { NoteList } from "../ui/Notes";
import { PermittedButton } from "../ui/PermittedButton";
import { CoefficientTable } from "./CoefficientTable";
import { ErrorTable } from "./ErrorTable";
import { FittedOn } from "./FittedOn";
import { importMeets } from "./prepareImport";
import { extrapolations, type Hardware } from "./prepareProfile";

/** A profile has a few kB. */
const MOST_BYTES = 1_000_000;

async function readFile(file: File): Promise<EngineProfile> {
  if (file.size > MOST_BYTES) throw new Error(`${file.name} is larger than 1 MB: an engine profile has a few kB.`);
  return unwrapOutcome(readProfileText(await file.text(), file.name)).profile;
}

/** Imports an engine profile from a file: shows its content and the name it gets, and stores nothing before that is confirmed. */
export function ImportProfile(props: {
  readonly list: ProfileList;
  readonly hardware: Hardware | null;
  readonly onClose: () => void;
  /** Opens a profile: the imported one, or the identical one that is already stored. */
  readonly onShow: (id: string) => void;
}) {
  const read = useMutation({ mutationFn: readFile });
  return (
    <Modal
      open
      onOpenChange={(open) => open || props.onClose()}
      title="Import a profile"
      description="An engine profile from weir calibrate --out or from this page's export. It is stored only after you confirm it."
    >
      <FilePicker
        label="Profile"
        hint="JSON, up to 1 MB."
        accept=".json,application/json"
        sending={read}
        onFile={(file) => read.mutate(file)}
      />
      {read.data !== undefined && <Preview key={read.submittedAt} {...props} profile={read.data} />}
    </Modal>
  );
}

function Preview(props: {
  readonly profile: EngineProfile;
  readonly list: ProfileList;
  readonly hardware: Hardware | null;
  readonly onShow: (id: string) => void;
}) {
  const { profile, list, hardware } = props;
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const starting = importMeets(profile, profile.name, list);
  const [typed, setTyped] = useState(starting.kind === "name-taken" ? starting.freeName : profile.name);
  const name = typed.trim();
  const meets = importMeets(profile, name, list);
  const keep = useMutation({
    mutationFn: async () => unwrapOutcome(await client.calibrations.importProfile.mutate({ profile: { ...profile, name } })),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries(trpc.calibrations.pathFilter());
      props.onShow(id);
    },
  });
  const sentences = hardware === null ? [] : extrapolations(profile, hardware);
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        keep.mutate();
      }}
    >
      <section className="flex flex-col gap-2">
        <h3 className="text-sm font-semibold">
          {profile.name} {profile.fittedOn?.emulated && <Badge tone="hatched">emulated</Badge>}
        </h3>
        <p className="text-sm text-ink-2">A profile of {engineTitle(profile.engine)}, used for planning only after you select it.</p>
        <FittedOn profile={profile} />
      </section>
      <section className="flex flex-col gap-2">
        <h3 className="text-sm font-semibold">On held-out runs</h3>
        {profile.errors === null ? (
          <p className="text-sm text-ink-3">The profile does not state its errors: compare it with your own runs.</p>
        ) : (
          <ErrorTable caption={`Errors of ${profile.name} on unseen runs`} sets={[{ name: "unseen", errors: profile.errors }]} />
        )}
      </section>
      {sentences.length > 0 && (
        <section className="flex flex-col gap-2">
          <h3 className="text-sm font-semibold">For this cluster</h3>
          <NoteList items={sentences} className="flex list-disc flex-col gap-1 pl-4 text-sm text-ink-2" />
        </section>
      )}
      <details>
        <summary className="text-sm font-medium text-ink-2">Coefficients</summary>
        <div className="mt-2">
          <CoefficientTable profile={profile} before={null} />
        </div>
      </details>
      {meets.kind === "same-profile" ? (
        <div className="flex flex-wrap items-center gap-3">
          <p role="status" className="text-sm text-ink-2">
            This profile already exists as "{meets.profile.name}": its figures are the same.
          </p>
          <Button className="ml-auto" onClick={() => props.onShow(meets.profile.id)}>
            Show it
          </Button>
        </div>
      ) : (
        <>
          {starting.kind === "name-taken" && (
            <p role="status" className="text-sm text-warn">
              There is another profile "{starting.profile.name}"
              {starting.profile.fittedOn === null ? "" : `, fitted on ${starting.profile.fittedOn.asOf}`}: it stays as it is. Enter another
              name for this one.
            </p>
          )}
          <TextField
            label="Name"
            value={typed}
            maxLength={MOST_PROFILE_NAME}
            problem={name === "" ? "Give it a name." : meets.kind === "name-taken" ? `A profile "${name}" already exists.` : undefined}
            onChange={setTyped}
          />
          <ErrorLine error={keep.error} />
          <div className="flex justify-end">
            <PermittedButton
              permission="prepare"
              type="submit"
              look="primary"
              disabled={keep.isPending || name === "" || meets.kind === "name-taken"}
            >
              Import profile
            </PermittedButton>
          </div>
        </>
      )}
    </form>
  );
}

import type { CheckEvent, FitState, LiveRows, Outcome, ProfileList } from "@/server/contracts/studio";
import type { UserGpu, UserModel } from "@/solver/hardware/cardSchema";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { GpuCard } from "@/solver/hardware/gpus";
import type { ModelCard } from "@/solver/hardware/modelCard";
import type { Actor } from "./actor";
import type { CardKind, CheckRequest, FitRequest, LiveTableRequest } from "./inputs";

/** Every card there is; `own` ones were added by a user. */
interface CardList {
  readonly models: readonly (ModelCard & { readonly own: boolean })[];
  readonly gpus: readonly (GpuCard & { readonly own: boolean; readonly ownPrice: boolean })[];
  /** Why the user's own cards cannot be used, in one sentence; null when they can, or there are none. */
  readonly problem: string | null;
}

/** Model and GPU cards: the shipped ones and the user's. */
export interface CardService {
  list(): CardList;
  /** What a pasted `config.json` of Hugging Face, or a model card of this studio, says; nothing is kept. */
  readModel(text: string): Outcome<{ readonly model: UserModel; readonly notes: readonly string[] }>;
  addModel(model: UserModel, actor: Actor): Outcome<object>;
  addGpu(gpu: UserGpu, actor: Actor): Outcome<object>;
  /** Refused while a workload names the model or a cluster the GPU. */
  remove(kind: CardKind, id: string, actor: Actor): Outcome<object>;
  /** null takes the list price again. */
  setPrice(gpu: string, usdPerGpuHour: number | null, actor: Actor): Outcome<object>;
}

/** A table taken from a cluster. */
interface LiveTable {
  /** null: there was not one row to be made. */
  readonly uploadId: string | null;
  readonly live: LiveRows;
}

/** Engine profiles: how far their predictions are from measured runs, fitting them, and which one plans are made with. */
export interface CalibrationService {
  list(): ProfileList;
  /** Makes a table of runs, as an uploaded one, of what a cluster's engines told lately. */
  calibrateFromLive(request: LiveTableRequest): Promise<Outcome<LiveTable>>;
  /** What a table was made of; null where it was not taken from a cluster, or not lately. */
  liveRows(uploadId: string): LiveRows | null;
  /** An uploaded table as it stands; null when it is not kept any more. */
  table(uploadId: string): Promise<{ readonly name: string; readonly text: string } | null>;
  /** Holds predictions against an uploaded table of runs; ends by itself or with the signal. */
  check(request: CheckRequest, signal: AbortSignal): AsyncIterable<CheckEvent>;
  /** Begins to fit a profile to the runs of one engine in an uploaded table; `fit` tells how it goes, under its id. */
  startFit(request: FitRequest): Promise<Outcome<{ readonly id: string }>>;
  /** null: no such fit among the last ones of this run of the studio. */
  fit(id: string): FitState | null;
  stopFit(id: string): Outcome<object>;
  keep(profile: EngineProfile, actor: Actor): Outcome<{ readonly id: string }>;
  /** Keeps a profile from a file, under another id where its own is taken; refused where a profile has its name. */
  importProfile(profile: EngineProfile, actor: Actor): Outcome<{ readonly id: string }>;
  /** Makes plans with a profile from now on; kept plans stay as they are. */
  use(id: string, actor: Actor): Outcome<object>;
  /** Refused while plans are made with it. */
  remove(id: string, actor: Actor): Outcome<object>;
}

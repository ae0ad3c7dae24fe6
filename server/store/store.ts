import { createAnswerLabelRepository } from "./answerLabelRepository";
import { createAnswerSampleRepository } from "./answerSampleRepository";
import { createApiTokenRepository } from "./apiTokenRepository";
import { createApplicationRepository } from "./applicationRepository";
import { createApprovalRepository } from "./approvalRepository";
import { createArtefactRepository } from "./artefactRepository";
import { createAuditRepository } from "./auditRepository";
import { createBatchRepository } from "./batchRepository";
import { createCalibrationRepository } from "./calibrationRepository";
import { createClusterRepository } from "./clusterRepository";
import { createControlChangeRepository } from "./controlChangeRepository";
import { openDatabase } from "./database";
import { createDeclaredWorkflowRepository } from "./declaredWorkflowRepository";
import { createEngineIdentityRepository } from "./engineIdentityRepository";
import { createEnsembleRepository } from "./ensembleRepository";
import { createHandLabelRepository } from "./handLabelRepository";
import { createJournalRepository } from "./journalRepository";
import { createLabRepository } from "./labRepository";
import { createPlanRepository } from "./planRepository";
import { createProfileRepository } from "./profileRepository";
import { createPromptRepository } from "./promptRepository";
import { createProposalRepository } from "./proposalRepository";
import { createRealSetupRepository } from "./realSetupRepository";
import { createRollUpRepository } from "./rollUpRepository";
import { createScheduleRepository } from "./scheduleRepository";
import { createScrubber } from "./scrubber";
import { createSessionRepository } from "./sessionRepository";
import { createSessionRowRepository } from "./sessionRowRepository";
import { createTrafficRepository } from "./trafficRepository";
import { createUserRepository } from "./userRepository";
import { createWorkloadRepository } from "./workloadRepository";

/**
 * The studio's memory: one SQLite file, one repository per noun.
 *
 * @throws Error with one sentence if the folder cannot be written.
 */
export function openStore(stateDir: string) {
  const db = openDatabase(stateDir);
  const scrubber = createScrubber(db);
  const audit = createAuditRepository(db, stateDir);
  const clusters = createClusterRepository(db);
  const plans = createPlanRepository(db);
  return {
    /** Its path, for threads that read it too. */
    file: db.$client.name,
    workloads: createWorkloadRepository(db),
    clusters,
    plans,
    approvals: createApprovalRepository(db, { plans, clusters }),
    applications: createApplicationRepository(db),
    journal: createJournalRepository(db),
    audit,
    controlChanges: createControlChangeRepository(db),
    calibrations: createCalibrationRepository(db),
    artefacts: createArtefactRepository(db),
    declaredWorkflows: createDeclaredWorkflowRepository(db),
    ensembles: createEnsembleRepository(db),
    answerSamples: createAnswerSampleRepository(db),
    sessionRows: createSessionRowRepository(db),
    batches: createBatchRepository(db, scrubber),
    profiles: createProfileRepository(db, scrubber),
    traffic: createTrafficRepository(db),
    prompts: createPromptRepository(db),
    proposals: createProposalRepository(db),
    realSetup: createRealSetupRepository(db),
    identities: createEngineIdentityRepository(db),
    rollUps: createRollUpRepository(db),
    handLabels: createHandLabelRepository(db),
    answerLabels: createAnswerLabelRepository(db),
    labRuns: createLabRepository(db),
    schedules: createScheduleRepository(db),
    sessions: createSessionRepository(db),
    users: createUserRepository(db),
    apiTokens: createApiTokenRepository(db),
    /** All of `write` or nothing of it. */
    atomically: <Result>(write: () => Result): Result => db.$client.transaction(write).immediate(),
    /** All of `write` or nothing of it; the deleted data is in none of SQLite's files afterwards. */
    erasing(write: () => void): void {
      db.$client.transaction(write).immediate();
      scrubber.now();
    },
    /** Removes deleted texts, and the copies that SQLite left when rows moved, from its files, at most once a minute. */
    scrub: scrubber.soon,
    close(): void {
      audit.close();
      scrubber.close();
      db.$client.close();
    },
  };
}

export type Store = ReturnType<typeof openStore>;

import { profileRequestSchema } from "@/server/contracts/studio/profile";
import { byId } from "../base/inputs";
import { byJob, resumeProfileSchema, toWorkloadSchema } from "../base/profilingInputs";
import { found, procedureFor, router } from "./trpc";

export const profilesRouter = router({
  estimate: procedureFor("prepare")
    .input(profileRequestSchema)
    .mutation(({ ctx, input }) => ctx.services.profiles.estimate(input)),
  start: procedureFor("prepare")
    .input(profileRequestSchema)
    .mutation(({ ctx, input }) => ctx.services.profiles.start(input, ctx.caller.name)),
  list: procedureFor("read").query(({ ctx }) => ctx.services.profiles.list()),
  get: procedureFor("read")
    .input(byId)
    .query(({ ctx, input }) => found(ctx.services.profiles.get(input.id), `profile ${input.id}`)),
  pause: procedureFor("prepare")
    .input(byJob)
    .mutation(({ ctx, input }) => ctx.services.profiles.pause(input.jobId, ctx.caller.name)),
  resume: procedureFor("prepare")
    .input(resumeProfileSchema)
    .mutation(({ ctx, input }) => ctx.services.profiles.resume(input.jobId, input.capUsd, ctx.caller.name)),
  stop: procedureFor("prepare")
    .input(byJob)
    .mutation(({ ctx, input }) => ctx.services.profiles.stop(input.jobId, ctx.caller.name)),
  toWorkload: procedureFor("prepare")
    .input(toWorkloadSchema)
    .mutation(({ ctx, input }) => ctx.services.profiles.toWorkload(input, ctx.caller.name)),
  workloadInMaking: procedureFor("read")
    .input(byJob)
    .query(({ ctx, input }) => ctx.services.profiles.workloadInMaking(input.jobId)),
  cancelWorkload: procedureFor("prepare")
    .input(byJob)
    .mutation(({ ctx, input }) => ctx.services.profiles.cancelWorkload(input.jobId)),
  toMeasuredRuns: procedureFor("prepare")
    .input(byJob)
    .mutation(({ ctx, input }) => ctx.services.profiles.toMeasuredRuns(input.jobId)),
});

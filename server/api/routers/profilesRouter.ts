import { profileRequestSchema } from "@/server/contracts/studio/profile";
import { byId } from "../base/inputs";
import { byJob, resumeProfileSchema, toWorkloadSchema } from "../base/profilingInputs";
import { found, procedure, router } from "./trpc";

export const profilesRouter = router({
  estimate: procedure.input(profileRequestSchema).mutation(({ ctx, input }) => ctx.services.profiles.estimate(input)),
  start: procedure.input(profileRequestSchema).mutation(({ ctx, input }) => ctx.services.profiles.start(input, ctx.session.name)),
  list: procedure.query(({ ctx }) => ctx.services.profiles.list()),
  get: procedure.input(byId).query(({ ctx, input }) => found(ctx.services.profiles.get(input.id), `profile ${input.id}`)),
  pause: procedure.input(byJob).mutation(({ ctx, input }) => ctx.services.profiles.pause(input.jobId, ctx.session.name)),
  resume: procedure
    .input(resumeProfileSchema)
    .mutation(({ ctx, input }) => ctx.services.profiles.resume(input.jobId, input.capUsd, ctx.session.name)),
  stop: procedure.input(byJob).mutation(({ ctx, input }) => ctx.services.profiles.stop(input.jobId, ctx.session.name)),
  toWorkload: procedure.input(toWorkloadSchema).mutation(({ ctx, input }) => ctx.services.profiles.toWorkload(input, ctx.session.name)),
  toMeasuredRuns: procedure.input(byJob).mutation(({ ctx, input }) => ctx.services.profiles.toMeasuredRuns(input.jobId)),
});

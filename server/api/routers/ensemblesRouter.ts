import { z } from "zod";
import {
  keepEnsembleSchema,
  keepSampleSchema,
  placeRequestSchema,
  replayRequestSchema,
  sessionsOfEngineSchema,
} from "@/server/contracts/studio/ensembles";
import { tauSchema } from "@/solver/ensemble/gate/ensembleDocument";
import { never, procedure, router } from "./trpc";

const name = z.string().min(1).max(63);
const reason = z.string().max(300).default("");
const atGateway = z.object({ clusterId: z.string().min(1), name, reason });
export const ensemblesRouter = router({
  list: procedure.query(({ ctx }) => ctx.services.ensembles.list()),
  keep: procedure.input(keepEnsembleSchema).mutation(({ ctx, input }) => ctx.services.ensembles.keep(input, ctx.session.name)),
  remove: procedure.input(z.object({ name })).mutation(({ ctx, input }) => ctx.services.ensembles.remove(input.name, ctx.session.name)),
  samples: procedure.query(({ ctx }) => ctx.services.ensembles.samples()),
  survey: procedure.input(z.object({ uploadId: z.uuid() })).query(({ ctx, input }) => ctx.services.ensembles.survey(input.uploadId)),
  keepSample: procedure.input(keepSampleSchema).mutation(({ ctx, input }) => ctx.services.ensembles.keepSample(input, ctx.session.name)),
  removeSample: procedure
    .input(z.object({ id: z.string().min(1) }))
    .mutation(({ ctx, input }) => ctx.services.ensembles.removeSample(input.id, ctx.session.name)),
  replay: procedure.input(replayRequestSchema).query(({ ctx, input, signal }) => ctx.services.ensembles.replay(input, signal ?? never())),
  // A mutation: ensembles with skills are too long for the URL of a query.
  place: procedure.input(placeRequestSchema).mutation(({ ctx, input, signal }) => ctx.services.ensembles.place(input, signal ?? never())),
  sessions: procedure.query(({ ctx }) => ctx.services.ensembles.sessions()),
  keepSessions: procedure
    .input(z.object({ uploadId: z.uuid() }))
    .mutation(({ ctx, input }) => ctx.services.ensembles.keepSessions(input.uploadId, ctx.session.name)),
  removeSessions: procedure
    .input(sessionsOfEngineSchema)
    .mutation(({ ctx, input }) => ctx.services.ensembles.removeSessions(input, ctx.session.name)),
  served: procedure
    .input(z.object({ clusterId: z.string().min(1) }))
    .query(({ ctx, input }) => ctx.services.ensembles.served(input.clusterId)),
  serve: procedure.input(atGateway).mutation(({ ctx, input }) => ctx.services.ensembles.serve(input, ctx.session.name)),
  withdraw: procedure.input(atGateway).mutation(({ ctx, input }) => ctx.services.ensembles.withdraw(input, ctx.session.name)),
  setTau: procedure
    .input(atGateway.extend({ tau: tauSchema }))
    .mutation(({ ctx, input }) => ctx.services.ensembles.setTau(input, ctx.session.name)),
});

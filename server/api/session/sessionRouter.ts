import { procedure, router } from "../base/trpc";

export const sessionRouter = router({
  me: procedure.query(({ ctx }) => ({ name: ctx.session.name })),
  signOut: procedure.mutation(({ ctx }) => ctx.services.sessions.signOut(ctx.session.hash)),
});

import { procedure, router } from "./trpc";

export const sessionRouter = router({
  me: procedure.query(({ ctx }) => ({ name: ctx.session.name })),
  signOut: procedure.mutation(({ ctx }) => ctx.services.sessions.signOut(ctx.session.hash)),
});

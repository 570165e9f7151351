// A refused start: one sentence for the operator instead of a stack.
export class StartRefused extends Error {}

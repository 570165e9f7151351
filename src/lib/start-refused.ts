// Why a process does not start although it could: a sentence for the operator, which no stack would make clearer.
export class StartRefused extends Error {}

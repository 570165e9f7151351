// The transaction shared by the statements of one write, for callers that only pass it on.
export type { Transaction } from 'sequelize';

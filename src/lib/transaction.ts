// The transaction that statements of one write share, for those who pass it on without speaking SQL.
export type { Transaction } from 'sequelize';

// Tables shared by all rooms: versions and claims.
import { Model } from 'sequelize-typescript';
import { db } from '../../lib/database/db.js';
import { ascii, big, instant } from './column.js';
import { Column, Table, type NewRow, type Row } from './table.js';

/** A number per scope that is raised by every change of it. */
@Table('versions')
export class Version extends Model<Row<Version>, NewRow<Version>> {
  @Column(ascii(40).primary()) declare scope: string;
  @Column(big()) declare version: number;
}

/** Work that one process at a time may do. */
@Table('claims')
export class Claim extends Model<Row<Claim>, NewRow<Claim>> {
  @Column(ascii(50).primary()) declare name: string;
  /** Empty while it is free. */
  @Column(ascii(20)) declare owner: string;
  @Column(instant()) declare expires_at: Date;
}

db.addModels([Version, Claim]);

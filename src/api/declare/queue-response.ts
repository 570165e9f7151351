// The figures of a queue in answers.
import Joi from 'joi';
import { queueNames } from '../../lib/queue/names.js';
import { described, integer } from './response.js';

export const queueKeys = described(
  {
    name: Joi.string()
      .valid(...queueNames)
      .required(),
    waiting: integer(),
    active: integer(),
    delayed: integer(),
    failed: integer(),
    oldest_seconds: integer(),
  },
  {
    name: ['Name of the queue'],
    waiting: ['Jobs that wait', 0],
    active: ['Jobs that run', 1],
    delayed: ['Jobs that wait for their time', 3],
    failed: ['Jobs that failed for good', 0],
    oldest_seconds: ['Seconds that the oldest job has waited', 0],
  },
);

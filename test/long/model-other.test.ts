// Half of the 2,000 sequences of npm run test:long; the halves run at the same time.
import '../support/settings/environment.js';
import test from 'ava';
import { provesModelAtLength } from '../support/model/model-proof.js';

provesModelAtLength(test);

// back-office refunds …: channels are asked now what became of refunds.
import type { Command } from 'commander';
import { askAllNow, askNow } from '../../models/trade/refund-schedule.js';
import { does, type Given, type Outcome } from './command.js';

export function addRefundCommands(program: Command): void {
  const refunds = program.command('refunds').description('refunds: ask');
  does(
    refunds
      .command('ask')
      .argument('[refund_no]', 'one of them; all that have not ended if not given')
      .description('makes refunds due now; the worker sends them or asks what became of them'),
    ask,
    { changes: true },
  );
}

async function ask({ args: [refundNo] }: Given): Promise<Outcome> {
  const due = refundNo === undefined ? await askAllNow() : Number(await askNow(refundNo));
  return { data: { due }, text: due === 0 ? 'none is open' : `${due} due` };
}

// A date range picker.
import { DatePicker } from 'antd';
import { dayToInstant, instantToDay } from '../show/time.ts';

interface Props {
  /** Instants; empty for none. */
  start: string;
  end: string;
  names: string[];
  onChange: (range: Record<string, string>) => void;
}

export default function Calendar({ start, end, names: [from = '', to = ''], onChange }: Props) {
  return (
    <DatePicker.RangePicker
      className="filter-period"
      autoFocus
      defaultOpen
      // They name the inputs, which a label would give one name.
      placeholder={[from, to]}
      allowEmpty
      value={[instantToDay(start), instantToDay(end)]}
      onChange={(days) => {
        const [first, last] = days ?? [];
        onChange({
          start_time: first ? dayToInstant(first, 'start') : '',
          end_time: last ? dayToInstant(last, 'end') : '',
        });
      }}
    />
  );
}

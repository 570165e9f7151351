// A signed callback in five languages, for the introduction of the document; a test runs each.

/** Code by language, as Markdown names it. */
export const callbackSamples: Record<string, string> = {
  sh: `sign=$(printf '%s|SUCCESS|%s' "$PAYMENT_NO" "$AMOUNT" | openssl dgst -sha256 -hmac "$SECRET" | sed 's/.* //')
curl --silent --show-error "$NOTIFY_URL" \\
  --data-urlencode "out_trade_no=$PAYMENT_NO" --data trade_status=SUCCESS \\
  --data "amount=$AMOUNT" --data "sign=$sign"`,

  js: `import { createHmac } from 'node:crypto';
const { NOTIFY_URL, SECRET, PAYMENT_NO, AMOUNT } = process.env;
const sign = createHmac('sha256', SECRET).update(\`\${PAYMENT_NO}|SUCCESS|\${AMOUNT}\`).digest('hex');
const response = await fetch(NOTIFY_URL, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ out_trade_no: PAYMENT_NO, trade_status: 'SUCCESS', amount: AMOUNT, sign }),
});
console.log(await response.text());`,

  php: `<?php
[$url, $secret, $no, $amount] = array_map('getenv', ['NOTIFY_URL', 'SECRET', 'PAYMENT_NO', 'AMOUNT']);
$fields = ['out_trade_no' => $no, 'trade_status' => 'SUCCESS', 'amount' => $amount];
$fields['sign'] = hash_hmac('sha256', "$no|SUCCESS|$amount", $secret);
$http = [
  'method' => 'POST',
  'header' => 'Content-Type: application/x-www-form-urlencoded',
  'content' => http_build_query($fields),
  'ignore_errors' => true,
];
echo file_get_contents($url, false, stream_context_create(['http' => $http]));`,

  java: `import java.net.URI;
import java.net.http.*;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Notify {
  public static void main(String[] none) throws Exception {
    String no = System.getenv("PAYMENT_NO"), amount = System.getenv("AMOUNT");
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(System.getenv("SECRET").getBytes("UTF-8"), "HmacSHA256"));
    String sign = HexFormat.of().formatHex(mac.doFinal((no + "|SUCCESS|" + amount).getBytes("UTF-8")));
    String form = "out_trade_no=" + no + "&trade_status=SUCCESS&amount=" + amount + "&sign=" + sign;
    HttpRequest request = HttpRequest.newBuilder(URI.create(System.getenv("NOTIFY_URL")))
        .header("Content-Type", "application/x-www-form-urlencoded")
        .POST(HttpRequest.BodyPublishers.ofString(form)).build();
    System.out.println(HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body());
  }
}`,

  python: `import hashlib, hmac, json, os, urllib.request

url, secret, no, amount = (os.environ[name] for name in ("NOTIFY_URL", "SECRET", "PAYMENT_NO", "AMOUNT"))
sign = hmac.new(secret.encode(), f"{no}|SUCCESS|{amount}".encode(), hashlib.sha256).hexdigest()
fields = {"out_trade_no": no, "trade_status": "SUCCESS", "amount": amount, "sign": sign}
request = urllib.request.Request(url, json.dumps(fields).encode(), {"Content-Type": "application/json"})
print(urllib.request.urlopen(request).read().decode())`,
};

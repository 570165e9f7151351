// /attachments once more, with the files in OpenStack Swift.
import '../support/environment.js';
import '../support/swift-environment.js';
import '../files/attachments.test.js';
